import pRetry from "p-retry";
import {
  EMBED_ATTEMPTS,
  EMBED_BATCH_CHARS,
  EMBED_BATCH_INPUTS,
  EMBED_RETRY_BASE_MS,
  EMBED_RETRY_MAX_MS,
  EMBED_TIMEOUT_MS,
} from "../../shared/limits.ts";
import type { Embedder, Passage } from "./embedder.ts";
import { EmbeddingError, type EmbeddingSetting } from "./embedding-error.ts";
import { parseEmbeddingResponse } from "./embedding-response.ts";

/** How much of an error response is shown. */
const EMBED_ERROR_MAX_CHARS = 200;

interface RemoteOptions {
  /** The URL of `/v1/embeddings`, or of a path above it. */
  readonly url: string;
  readonly model: string;
  /** Requests this many dimensions, from models that can shorten their vectors. */
  readonly dimension?: number | undefined;
  readonly apiKey?: string | undefined;
  /** The minimum wait before the first retry. It doubles with each further retry. */
  readonly retryBaseMs?: number;
  readonly timeoutMs?: number;
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** An embedder that uses an OpenAI-compatible endpoint. Its methods throw an EmbeddingError. */
export function remoteEmbedder(options: RemoteOptions): Embedder {
  const endpoint = new Endpoint(options);
  return {
    name: `${options.model}:${options.dimension ?? "all"}`,
    async embedPassages(passages) {
      const vectors: Float32Array[] = [];
      for (const inputs of batches(passages.map(textOf))) {
        vectors.push(...(await endpoint.embed(inputs)));
      }
      return vectors;
    },
    async embedQuery(text) {
      return (await endpoint.embed([text]))[0] as Float32Array;
    },
  };
}

function textOf({ headings, content }: Passage): string {
  return headings.length === 0 ? content : `${headings.join(" > ")}\n\n${content}`;
}

function* batches(inputs: readonly string[]): Generator<string[]> {
  let batch: string[] = [];
  let chars = 0;
  for (const input of inputs) {
    const full = batch.length >= EMBED_BATCH_INPUTS || chars + input.length > EMBED_BATCH_CHARS;
    if (full && batch.length > 0) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(input);
    chars += input.length;
  }
  if (batch.length > 0) yield batch;
}

/** Completes `http://host` and `http://host/v1` to `http://host/v1/embeddings`. */
export function embeddingsUrl(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "");
  if (path === "") url.pathname = "/v1/embeddings";
  else if (path.endsWith("/v1")) url.pathname = `${path}/embeddings`;
  return url.href;
}

/** A request that got no successful response. */
class RequestFailure extends Error {
  constructor(
    message: string,
    /** Null if there was no response. */
    readonly status: number | null,
    readonly retryAfterMs?: number | undefined,
  ) {
    super(message);
  }

  get isRetryable(): boolean {
    return this.status === null || this.status >= 500 || RETRYABLE_STATUSES.has(this.status);
  }
}

class Endpoint {
  readonly #url: string;
  /** Base64 is about a quarter of the size of numbers as text. Some endpoints do not support it. */
  #encoding: "base64" | "float" = "base64";
  /** The requested dimension, or that of the first vector. All vectors must have the same. */
  #dimension: number | undefined;

  constructor(private readonly options: RemoteOptions) {
    this.#dimension = options.dimension;
    this.#url = embeddingsUrl(options.url);
  }

  async embed(inputs: readonly string[]): Promise<Float32Array[]> {
    const vectors = parseEmbeddingResponse(await this.#requestWithRetries(inputs), inputs.length);
    for (const { length } of vectors) {
      this.#dimension ??= length;
      if (length === this.#dimension) continue;
      throw new EmbeddingError(
        `the model returned a vector of ${length} dimensions, expected ${this.#dimension}`,
        ["model", "dimension"],
      );
    }
    return vectors;
  }

  async #requestWithRetries(inputs: readonly string[]): Promise<string> {
    const { retryBaseMs = EMBED_RETRY_BASE_MS } = this.options;
    let attempts = 0;
    try {
      return await pRetry(
        () => {
          attempts++;
          return this.#requestWithFallback(inputs);
        },
        {
          retries: EMBED_ATTEMPTS - 1,
          // The wait is below, because it may be given by the endpoint.
          minTimeout: 0,
          async shouldRetry({ error }) {
            if (!(error instanceof RequestFailure && error.isRetryable)) return false;
            const backoff = retryBaseMs * 2 ** (attempts - 1) * (1 + Math.random());
            await Bun.sleep(Math.min(error.retryAfterMs ?? backoff, EMBED_RETRY_MAX_MS));
            return true;
          },
        },
      );
    } catch (error) {
      throw error instanceof RequestFailure ? explain(error, attempts) : error;
    }
  }

  /** Requests base64, and numbers from then on if the endpoint rejects that. */
  async #requestWithFallback(inputs: readonly string[]): Promise<string> {
    try {
      return await this.#request(inputs);
    } catch (error) {
      const rejected = error instanceof RequestFailure && error.status === 400;
      if (!rejected || this.#encoding === "float") throw error;
      this.#encoding = "float";
      return await this.#request(inputs);
    }
  }

  async #request(inputs: readonly string[]): Promise<string> {
    const { model, dimension, apiKey, timeoutMs = EMBED_TIMEOUT_MS } = this.options;
    const body = {
      model,
      input: inputs,
      encoding_format: this.#encoding,
      ...(dimension === undefined ? {} : { dimensions: dimension }),
    };
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      throw new RequestFailure((error as Error).message, null);
    }
    if (response.ok) return text;
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
    throw new RequestFailure(excerpt(text), response.status, retryAfterMs);
  }
}

function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1_000;
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}

const SETTINGS_BY_STATUS: Readonly<Record<number, readonly EmbeddingSetting[]>> = {
  401: ["apiKey"],
  403: ["apiKey"],
  404: ["url", "model"],
};

function explain({ status, message }: RequestFailure, attempts: number): EmbeddingError {
  const after = attempts > 1 ? ` after ${attempts} attempts` : "";
  const reason = message === "" ? "" : ` (${message})`;
  if (status === null) {
    return new EmbeddingError(`the embedding endpoint does not respond${after}${reason}`, ["url"]);
  }
  return new EmbeddingError(
    `the embedding endpoint answered ${status}${after}${reason}`,
    SETTINGS_BY_STATUS[status],
  );
}

function excerpt(text: string): string {
  const clean = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return clean.length > EMBED_ERROR_MAX_CHARS
    ? `${clean.slice(0, EMBED_ERROR_MAX_CHARS)}...`
    : clean;
}

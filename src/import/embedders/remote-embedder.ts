import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CommandError } from "../../cli/command-error.ts";
import {
  DIMENSIONS,
  EMBED_ATTEMPTS,
  EMBED_BATCH_CHARS,
  EMBED_BATCH_INPUTS,
  EMBED_ERROR_MAX_CHARS,
  EMBED_RETRY_BASE_MS,
  EMBED_RETRY_MAX_MS,
  EMBED_TIMEOUT_MS,
} from "../../shared/limits.ts";
import { isDimension, vectorFault } from "../../shared/vector.ts";
import type { Embedder, Passage } from "./embedder.ts";

export interface RemoteOptions {
  /** The address of `/v1/embeddings`, or of what it lies under. */
  readonly url: string;
  readonly model: string;
  /** Asks for this many dimensions, from models that can shorten their vectors. */
  readonly dimension?: number | undefined;
  readonly apiKey?: string | undefined;
  /** The wait before the first retry; each further one is twice as long. */
  readonly retryBaseMs?: number;
  readonly timeoutMs?: number;
}

const Answer = Type.Object({
  data: Type.Array(
    Type.Object({
      index: Type.Optional(Type.Integer()),
      embedding: Type.Union([Type.String(), Type.Array(Type.Number())]),
    }),
  ),
});
type Answer = Static<typeof Answer>;

const RETRYABLE = new Set([408, 409, 425, 429]);
const BYTES_PER_ELEMENT = 4;

/** An embedder that asks an OpenAI-compatible endpoint. Failures are CommandErrors. */
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

/** `http://host`, `http://host/v1` and `http://host/v1/embeddings` all mean the last one. */
export function embeddingsUrl(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "");
  if (path === "") url.pathname = "/v1/embeddings";
  else if (path.endsWith("/v1")) url.pathname = `${path}/embeddings`;
  return url.href;
}

class Endpoint {
  readonly #url: string;
  /** Base64 is a third of the size of numbers as text; an endpoint that refuses it gets numbers. */
  #encoding: "base64" | "float" = "base64";
  /** What was asked for, or what the first vector has: vectors of others cannot be compared. */
  #dimension: number | undefined;

  constructor(private readonly options: RemoteOptions) {
    this.#dimension = options.dimension;
    this.#url = embeddingsUrl(options.url);
  }

  async embed(inputs: readonly string[]): Promise<Float32Array[]> {
    const vectors = vectorsOf(await this.#ask(inputs), inputs.length);
    for (const vector of vectors) {
      requireUsable(vector);
      this.#dimension ??= vector.length;
      if (vector.length !== this.#dimension) throw mixed(this.#dimension, vector.length);
    }
    return vectors;
  }

  async #ask(inputs: readonly string[]): Promise<Answer> {
    const { retryBaseMs = EMBED_RETRY_BASE_MS } = this.options;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(inputs);
      if ("answer" in outcome) return outcome.answer;
      const { status, reason } = outcome;
      if (status === 400 && this.#encoding === "base64") {
        this.#encoding = "float";
        continue;
      }
      const passing = status === null || status >= 500 || RETRYABLE.has(status);
      if (!passing || attempt >= EMBED_ATTEMPTS) throw failure(status, reason, attempt);
      const backoff = retryBaseMs * 2 ** (attempt - 1) * (1 + Math.random());
      await Bun.sleep(Math.min(outcome.retryAfterMs ?? backoff, EMBED_RETRY_MAX_MS));
    }
  }

  async #attempt(
    inputs: readonly string[],
  ): Promise<
    { answer: Answer } | { status: number | null; reason: string; retryAfterMs?: number }
  > {
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
      return { status: null, reason: (error as Error).message };
    }
    if (!response.ok) {
      const retryAfterMs = retryAfter(response.headers.get("retry-after"));
      const known = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { status: response.status, reason: excerpt(text), ...known };
    }
    return { answer: parseAnswer(text) };
  }
}

function parseAnswer(text: string): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandError("the embedding endpoint answered with something that is not JSON");
  }
  if (Value.Check(Answer, value)) return value;
  throw new CommandError(
    "the embedding endpoint's answer is not of the form of /v1/embeddings: check --embed-url",
  );
}

/** Sorted by the index of their inputs, where the endpoint tells. */
function vectorsOf({ data }: Answer, expected: number): Float32Array[] {
  const vectors = new Array<Float32Array | undefined>(expected);
  data.forEach(({ index, embedding }, position) => {
    vectors[index ?? position] =
      typeof embedding === "string" ? fromBase64(embedding) : Float32Array.from(embedding);
  });
  if (data.length !== expected || vectors.length !== expected || vectors.includes(undefined)) {
    throw new CommandError(
      `the embedding endpoint answered with ${data.length} vectors for ${expected} texts`,
    );
  }
  return vectors as Float32Array[];
}

function fromBase64(text: string): Float32Array {
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const whole = bytes.length - (bytes.length % BYTES_PER_ELEMENT);
  return new Float32Array(bytes.buffer, 0, whole / BYTES_PER_ELEMENT);
}

function requireUsable(vector: Float32Array): void {
  if (!isDimension(vector.length)) {
    throw new CommandError(
      `the model gives vectors of ${vector.length} dimensions, but only ${DIMENSIONS.join(", ")} ` +
        "can be searched: choose another model, or --embed-dimension if it can shorten them",
    );
  }
  if (vectorFault(vector) !== undefined) {
    throw new CommandError("the model gave a vector of zeroes, or one with elements not finite");
  }
}

function mixed(wanted: number, given: number): CommandError {
  return new CommandError(
    `the model gave a vector of ${given} dimensions where ${wanted} were expected: ` +
      "check --embed-model and --embed-dimension",
  );
}

function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1_000;
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}

function failure(status: number | null, reason: string, attempts: number): CommandError {
  const tries = attempts > 1 ? ` after ${attempts} attempts` : "";
  if (status === null) {
    return new CommandError(
      `the embedding endpoint does not answer${tries} (${reason}): check --embed-url`,
    );
  }
  const advice =
    status === 401 || status === 403
      ? ": check EMBED_API_KEY"
      : status === 404
        ? ": check --embed-url and --embed-model"
        : "";
  return new CommandError(
    `the embedding endpoint answered ${status}${tries}${reason === "" ? "" : ` (${reason})`}${advice}`,
  );
}

function excerpt(text: string): string {
  const clean = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return clean.length > EMBED_ERROR_MAX_CHARS
    ? `${clean.slice(0, EMBED_ERROR_MAX_CHARS)}...`
    : clean;
}

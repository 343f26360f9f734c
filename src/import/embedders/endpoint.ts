import { EMBED_TIMEOUT_MS } from "../../shared/limits.ts";
import { EmbeddingError } from "./embedding-error.ts";
import { parseEmbeddingResponse } from "./embedding-response.ts";

/** How much of an error response is shown. */
const EMBED_ERROR_MAX_CHARS = 200;
/** The largest response: vectors of the largest dimension as numbers, with all their digits. */
const EMBED_RESPONSE_INPUT_BYTES = 131_072;

interface EndpointOptions {
  /** The URL of `/v1/embeddings`, or of a path above it. */
  readonly url: string;
  readonly model: string;
  readonly dimension?: number | undefined;
  /**
   * True to request this dimension from the start. Otherwise it is requested only after the model has
   * returned another one, because some endpoints refuse the parameter.
   */
  readonly asksForDimension: boolean;
  readonly apiKey?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Completes `http://host` and `http://host/v1` to `http://host/v1/embeddings`. */
export function embeddingsUrl(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "");
  if (path === "") url.pathname = "/v1/embeddings";
  else if (path.endsWith("/v1")) url.pathname = `${path}/embeddings`;
  return url.href;
}

const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** A request that got no successful response. */
export class RequestFailure extends Error {
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

/** An OpenAI-compatible endpoint. */
export class Endpoint {
  readonly #url: string;
  #hasAnswered = false;
  /** Base64 is about a quarter of the size of numbers as text. Some endpoints do not support it. */
  #encoding: "base64" | "float" = "base64";
  #asksForDimension: boolean;
  /** The dimension of the options, or that of the first vector. All vectors must have the same. */
  #dimension: number | undefined;

  constructor(private readonly options: EndpointOptions) {
    this.#dimension = options.dimension;
    this.#asksForDimension = options.asksForDimension && options.dimension !== undefined;
    this.#url = embeddingsUrl(options.url);
  }

  /** True once a request got any answer. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Embeds texts with one request. Throws a RequestFailure or an EmbeddingError. */
  async embed(inputs: readonly string[], timeoutMs?: number): Promise<Float32Array[]> {
    const vectors = await this.#embedOnce(inputs, timeoutMs);
    const other = this.#otherDimension(vectors);
    if (other === undefined) return vectors;
    if (this.options.dimension !== undefined && !this.#asksForDimension) {
      this.#asksForDimension = true;
      const shortened = await this.#embedOnce(inputs, timeoutMs);
      if (this.#otherDimension(shortened) === undefined) return shortened;
      this.#asksForDimension = false;
    }
    throw new EmbeddingError(
      `the model returned a vector of ${other} dimensions, expected ${this.#dimension}`,
      ["model", "dimension"],
    );
  }

  #otherDimension(vectors: readonly Float32Array[]): number | undefined {
    this.#dimension ??= vectors[0]?.length;
    return vectors.find(({ length }) => length !== this.#dimension)?.length;
  }

  /** Requests base64, and numbers from then on if the endpoint rejects that. */
  async #embedOnce(inputs: readonly string[], timeoutMs?: number): Promise<Float32Array[]> {
    let text: string;
    try {
      text = await this.#request(inputs, timeoutMs);
    } catch (error) {
      const rejected = error instanceof RequestFailure && error.status === 400;
      if (!rejected || this.#encoding === "float") throw error;
      this.#encoding = "float";
      text = await this.#request(inputs, timeoutMs);
    }
    return parseEmbeddingResponse(text, inputs.length);
  }

  async #request(
    inputs: readonly string[],
    timeoutMs = this.options.timeoutMs ?? EMBED_TIMEOUT_MS,
  ): Promise<string> {
    const { model, apiKey } = this.options;
    const body = {
      model,
      input: inputs,
      encoding_format: this.#encoding,
      ...(this.#asksForDimension ? { dimensions: this.#dimension } : {}),
    };
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        // The address is the operator's, and no answer leads anywhere else.
        redirect: "error",
        headers: {
          "content-type": "application/json",
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      this.#hasAnswered = true;
      text = await boundedText(response, inputs.length * EMBED_RESPONSE_INPUT_BYTES);
    } catch (error) {
      throw new RequestFailure((error as Error).message, null);
    }
    if (response.ok) return text;
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
    throw new RequestFailure(excerpt(text), response.status, retryAfterMs);
  }
}

async function boundedText(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new Error("the response is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(header)) return Number(header) * 1_000;
  const moment = Date.parse(header);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - Date.now());
}

function excerpt(text: string): string {
  const clean = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return clean.length > EMBED_ERROR_MAX_CHARS
    ? `${clean.slice(0, EMBED_ERROR_MAX_CHARS)}...`
    : clean;
}

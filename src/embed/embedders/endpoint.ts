import { EMBED_TIMEOUT_MS } from "../../domain/limits.ts";
import { padded } from "../../domain/vector.ts";
import { boundedFetch } from "../../ops/bounded-fetch.ts";
import { EmbeddingError, parseEmbeddingResponse } from "./embedding-response.ts";
import { type FittingChars, TextsAtFault } from "./text-batches.ts";

/** Maximum characters of an error response in a message. */
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
  /** Whether longer vectors are cut to the dimension. */
  readonly truncate?: boolean | undefined;
  readonly apiKey?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** How requests reach it; over the network by default. */
  readonly send?: (url: string, request: RequestInit) => Promise<Response>;
  /** Reads the texts that are too long from a refusal, for endpoints that name them. */
  readonly fitsOf?: (refusal: Response) => FittingChars | undefined;
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
/** Statuses that refuse the texts of a request, not the endpoint. */
const REFUSAL_STATUSES = new Set([400, 413, 422]);

/** A text that shows whether an endpoint answers, and how fast. */
export const EMBED_PROBE = "Does this work?";
const EMBED_PROBE_TIMEOUT_MS = 4_000;

/** A request that got no successful response. */
export class RequestFailure extends Error {
  constructor(
    message: string,
    /** Null if there was no response. */
    readonly status: number | null,
    readonly retryAfterMs?: number | undefined,
    /** The texts that are too long, if the answer says so. */
    readonly fits?: FittingChars | undefined,
  ) {
    super(message);
  }

  get isRetryable(): boolean {
    return this.status === null || this.status >= 500 || RETRYABLE_STATUSES.has(this.status);
  }
}

/** How the texts of a failed request may be at fault; undefined if they are not. */
function faultOfTexts(error: unknown): TextsAtFault | undefined {
  const because = { cause: error };
  if (error instanceof EmbeddingError) return new TextsAtFault(error.message, "nonsense", because);
  if (!(error instanceof RequestFailure)) return undefined;
  const { status, message, fits } = error;
  if (status === null) {
    const isSlow = isTimeout(error);
    const reason = isSlow ? "is too slow for it" : "closes the connection";
    return new TextsAtFault(
      `the embedding endpoint ${reason}`,
      isSlow ? "slow" : "failed",
      because,
    );
  }
  const answered = `the embedding endpoint answered ${status}${message === "" ? "" : ` (${message})`}`;
  if (REFUSAL_STATUSES.has(status))
    return new TextsAtFault(answered, "refused", { ...because, fits });
  return status >= 500 ? new TextsAtFault(answered, "failed", because) : undefined;
}

/** True if a request got no answer in time. */
export function isTimeout({ status, message }: RequestFailure): boolean {
  return status === null && /timed out|timeout/i.test(message);
}

/** An OpenAI-compatible endpoint. */
export class Endpoint {
  readonly #url: string;
  #hasAnswered = false;
  /** Base64 is about a quarter of the size of numbers as text. Some endpoints do not support it. */
  #encoding: "base64" | "float" = "base64";
  /** True once the endpoint has answered in this encoding, so that an error is not about it. */
  #encodingIsKnown = false;
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

  /**
   * Embeds texts with one request. The vectors have zeros up to a dimension that can be searched. Throws a
   * RequestFailure or an EmbeddingError.
   */
  async embed(inputs: readonly string[], timeoutMs?: number): Promise<Float32Array[]> {
    return (await this.#embedAsModel(inputs, timeoutMs)).map(padded);
  }

  async #embedAsModel(inputs: readonly string[], timeoutMs?: number): Promise<Float32Array[]> {
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
      text = await this.#request(inputs, this.#encoding, timeoutMs);
    } catch (error) {
      const rejected = error instanceof RequestFailure && REFUSAL_STATUSES.has(error.status ?? 0);
      if (!rejected || this.#encodingIsKnown || error.fits !== undefined) throw error;
      text = await this.#request(inputs, "float", timeoutMs);
      this.#encoding = "float";
    }
    this.#encodingIsKnown = true;
    const { dimension, truncate = false } = this.options;
    return parseEmbeddingResponse(text, inputs.length, truncate ? dimension : undefined);
  }

  /**
   * Embeds texts with one request. Throws TextsAtFault if the endpoint refuses them, or fails with them and then embeds
   * another text. Throws the error of `embed` if the endpoint itself is at fault.
   */
  async embedOrBlame(inputs: readonly string[], timeoutMs?: number): Promise<Float32Array[]> {
    try {
      return await this.embed(inputs, timeoutMs);
    } catch (error) {
      const fault = faultOfTexts(error);
      if (fault === undefined) throw error;
      if (fault.kind !== "refused" && !(await this.#answersAnother())) throw error;
      throw fault;
    }
  }

  async #answersAnother(): Promise<boolean> {
    try {
      await this.embed([EMBED_PROBE], EMBED_PROBE_TIMEOUT_MS);
      return true;
    } catch {
      return false;
    }
  }

  async #request(
    inputs: readonly string[],
    encoding: "base64" | "float",
    timeoutMs = this.options.timeoutMs ?? EMBED_TIMEOUT_MS,
  ): Promise<string> {
    const { model, apiKey } = this.options;
    const body = {
      model,
      input: inputs,
      encoding_format: encoding,
      ...(this.#asksForDimension ? { dimensions: this.#dimension } : {}),
    };
    const request = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    };
    const maxBytes = inputs.length * EMBED_RESPONSE_INPUT_BYTES;
    const send = async (url: string, init: RequestInit) => {
      const answer = await (this.options.send ?? fetch)(url, init);
      this.#hasAnswered = true;
      return answer;
    };
    const response = await boundedFetch(this.#url, request, maxBytes, send).catch(
      (error: Error) => {
        throw new RequestFailure(error.message, null);
      },
    );
    const text = await response.text();
    if (response.ok) return text;
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
    // Some endpoints repeat the key that they refuse.
    const said = apiKey === undefined ? text : text.replaceAll(apiKey, "[key]");
    throw new RequestFailure(
      excerpt(said),
      response.status,
      retryAfterMs,
      this.options.fitsOf?.(response),
    );
  }
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

import pRetry from "p-retry";
import {
  EMBED_ATTEMPTS,
  EMBED_BATCH_CHARS,
  EMBED_BATCH_INPUTS,
  EMBED_RETRY_BASE_MS,
  EMBED_RETRY_MAX_MS,
} from "../../shared/limits.ts";
import type { Embedder, Passage } from "./embedder.ts";
import { EmbeddingError, type EmbeddingSetting } from "./embedding-error.ts";
import { Endpoint, RequestFailure } from "./endpoint.ts";

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

/**
 * An embedder that uses an OpenAI-compatible endpoint. Its methods throw an EmbeddingError. An endpoint that
 * has never answered is most likely not there, so it is not asked again.
 */
export function remoteEmbedder(options: RemoteOptions): Embedder {
  const { retryBaseMs = EMBED_RETRY_BASE_MS } = options;
  const endpoint = new Endpoint({ ...options, asksForDimension: true });
  const embed = (inputs: readonly string[]) => embedWithRetries(endpoint, inputs, retryBaseMs);
  return {
    name: `${options.model}:${options.dimension ?? "all"}`,
    async embedPassages(passages) {
      const vectors: Float32Array[] = [];
      for (const inputs of batches(passages.map(textOf))) {
        vectors.push(...(await embed(inputs)));
      }
      return vectors;
    },
    async embedQuery(text) {
      return (await embed([text]))[0] as Float32Array;
    },
  };
}

/** The text of a passage as endpoints embed it. */
export function textOf({ headings, content }: Passage): string {
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

async function embedWithRetries(
  endpoint: Endpoint,
  inputs: readonly string[],
  retryBaseMs: number,
): Promise<Float32Array[]> {
  let attempts = 0;
  try {
    return await pRetry(
      () => {
        attempts++;
        return endpoint.embed(inputs);
      },
      {
        retries: EMBED_ATTEMPTS - 1,
        // The wait is below, because it may be given by the endpoint.
        minTimeout: 0,
        async shouldRetry({ error }) {
          if (!(error instanceof RequestFailure && error.isRetryable)) return false;
          if (!endpoint.hasAnswered) return false;
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

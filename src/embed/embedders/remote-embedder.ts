import pRetry from "p-retry";
import { EMBED_ATTEMPTS, EMBED_RETRY_BASE_MS, EMBED_RETRY_MAX_MS } from "../../domain/limits.ts";
import type { Embedder, Passage } from "./embedder.ts";
import { EmbeddingError, type EmbeddingSetting } from "./embedding-response.ts";
import { Endpoint, RequestFailure } from "./endpoint.ts";
import { type Outcome, TextBatches, TextsAtFault } from "./text-batches.ts";

/** Attempts with one text while the endpoint embeds others. */
const EMBED_TEXT_ATTEMPTS = 3;
/** The beginning of a text that names it in a note. */
const NOTE_CHARS = 60;

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
  /** Called for each passage that is embedded in parts, or not at all, although the endpoint works. */
  readonly onNote?: (note: string) => void;
}

/**
 * An embedder that uses an OpenAI-compatible endpoint. Its methods throw an EmbeddingError. An endpoint that
 * has never answered is most likely not there, so it is not asked again. A passage at which the endpoint fails,
 * although it embeds others, has no vector.
 */
export function remoteEmbedder(options: RemoteOptions): Embedder {
  const { retryBaseMs = EMBED_RETRY_BASE_MS } = options;
  const endpoint = new Endpoint({ ...options, asksForDimension: true });
  const batches = new TextBatches((inputs) =>
    embedWithRetries(endpoint, inputs, retryBaseMs, true),
  );
  return {
    name: `${options.model}:${options.dimension ?? "all"}`,
    async embedPassages(passages) {
      const outcomes = await batches.embed(passages, {});
      return outcomes.map((outcome, i) => {
        const note = noteOf(passages[i] as Passage, outcome);
        if (note !== undefined) options.onNote?.(note);
        return "reason" in outcome ? null : outcome.vector;
      });
    },
    async embedQuery(text) {
      return (await embedWithRetries(endpoint, [text], retryBaseMs))[0] as Float32Array;
    },
  };
}

/** A note about a passage that could not be embedded as a whole; undefined for other passages. */
function noteOf({ headings, content }: Passage, outcome: Outcome): string | undefined {
  const place = headings.length === 0 ? content.slice(0, NOTE_CHARS) : headings.join(" > ");
  if ("reason" in outcome) {
    return `the text under "${place}" is stored without an embedding: ${outcome.reason}`;
  }
  if (outcome.parts === 1) return undefined;
  return `the text under "${place}" is too long for the model: embedded in ${outcome.parts} parts`;
}

async function embedWithRetries(
  endpoint: Endpoint,
  inputs: readonly string[],
  retryBaseMs: number,
  mayBlame = false,
): Promise<Float32Array[]> {
  let attempts = 0;
  try {
    return await pRetry(
      () => {
        attempts++;
        return mayBlame ? endpoint.embedOrBlame(inputs) : endpoint.embed(inputs);
      },
      {
        retries: EMBED_ATTEMPTS - 1,
        // The endpoint may ask for a longer wait, so the wait is below.
        minTimeout: 0,
        async shouldRetry({ error }) {
          if (!endpoint.hasAnswered || !mayPass(error, inputs.length, attempts)) return false;
          const backoff = retryBaseMs * 2 ** (attempts - 1) * (1 + Math.random());
          const asked = error instanceof RequestFailure ? error.retryAfterMs : undefined;
          await Bun.sleep(Math.min(asked ?? backoff, EMBED_RETRY_MAX_MS));
          return true;
        },
      },
    );
  } catch (error) {
    throw error instanceof RequestFailure ? explain(error, attempts) : error;
  }
}

/** Whether a failure may pass. Several texts at fault are asked about apart instead. */
function mayPass(error: Error, inputs: number, attempts: number): boolean {
  if (error instanceof RequestFailure) return error.isRetryable;
  if (!(error instanceof TextsAtFault) || error.kind === "refused") return false;
  return inputs === 1 && attempts < EMBED_TEXT_ATTEMPTS;
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

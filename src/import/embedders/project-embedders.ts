import { type EmbedderConfig, HASHING } from "../../config/embedders.ts";
import { EMBED_DEFAULT_DIMENSION } from "../../shared/limits.ts";
import { hashingEmbedder, type Passage } from "./embedder.ts";
import { EmbeddingError } from "./embedding-error.ts";
import { Endpoint, RequestFailure } from "./endpoint.ts";
import { textOf } from "./remote-embedder.ts";

/** An embedder that projects may name: one of the operator's, or the built-in one. */
export interface ProjectEmbedder {
  readonly name: string;
  /** `name:model:dimension`. Embeddings with equal fingerprints are comparable. */
  readonly fingerprint: string;
  readonly dimension: number;
  /** Texts that one request may have, in number; the embedder counts as away if it takes longer. */
  embedPassages(passages: readonly Passage[], timeoutMs: number): Promise<Float32Array[]>;
  embedQuery(text: string, timeoutMs: number): Promise<Float32Array>;
}

/** An embedder is slow, away or misconfigured. The message has neither its address nor what it answered. */
export class EmbedderAway extends Error {
  constructor(
    readonly embedder: string,
    reason: string,
    /** How long it has asked to be left alone. */
    readonly retryAfterMs?: number | undefined,
    /** True when a smaller request may succeed. */
    readonly tooSlow = false,
  ) {
    super(`the embedder ${embedder} ${reason}`);
  }
}

/** An embedder refuses these texts, whenever they are sent. */
export class TextsRefused extends Error {}

/** The name in a fingerprint. */
export function embedderName(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.indexOf(":"));
}

/** Statuses that say something about the texts of a request, not about the endpoint. */
const TEXT_STATUSES = new Set([400, 413, 422]);

function away(name: string, error: unknown): Error {
  if (error instanceof EmbeddingError) {
    const isVector = error.settings.includes("dimension");
    return new EmbedderAway(
      name,
      `returned ${isVector ? "vectors of another dimension" : "nonsense"}`,
    );
  }
  if (!(error instanceof RequestFailure)) return error as Error;
  const { status, retryAfterMs } = error;
  if (status === null) {
    const isSlow = /timed out|timeout/i.test(error.message);
    return new EmbedderAway(name, isSlow ? "is too slow" : "does not answer", undefined, isSlow);
  }
  if (TEXT_STATUSES.has(status)) return new TextsRefused(`the embedder ${name} answered ${status}`);
  return new EmbedderAway(name, `answered ${status}`, retryAfterMs);
}

function remote(config: EmbedderConfig): ProjectEmbedder {
  const { name, model, dimension, queryPrefix, documentPrefix } = config;
  const endpoint = new Endpoint({ ...config, asksForDimension: false });
  const embed = async (texts: readonly string[], timeoutMs: number) => {
    try {
      return await endpoint.embed(texts, timeoutMs);
    } catch (error) {
      throw away(name, error);
    }
  };
  return {
    ...{ name, dimension, fingerprint: `${name}:${model}:${dimension}` },
    embedPassages: (passages, timeoutMs) =>
      embed(
        passages.map((passage) => documentPrefix + textOf(passage)),
        timeoutMs,
      ),
    async embedQuery(text, timeoutMs) {
      return (await embed([queryPrefix + text], timeoutMs))[0] as Float32Array;
    },
  };
}

function builtIn(): ProjectEmbedder {
  const embedder = hashingEmbedder();
  return {
    name: HASHING,
    fingerprint: `${HASHING}:${embedder.name}`,
    dimension: EMBED_DEFAULT_DIMENSION,
    embedPassages: (passages) => embedder.embedPassages(passages),
    embedQuery: (text) => embedder.embedQuery(text),
  };
}

/** The embedders of a configuration by name. */
export type ProjectEmbedders = ReadonlyMap<string, ProjectEmbedder>;

export function projectEmbedders(configs: readonly EmbedderConfig[]): ProjectEmbedders {
  return new Map([builtIn(), ...configs.map(remote)].map((embedder) => [embedder.name, embedder]));
}

/** Their fingerprints by name. */
export function fingerprintsOf(embedders: ProjectEmbedders): Record<string, string> {
  return Object.fromEntries([...embedders].map(([name, { fingerprint }]) => [name, fingerprint]));
}

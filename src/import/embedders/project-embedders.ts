import { type EmbedderConfig, HASHING } from "../../config/embedders.ts";
import {
  EMBED_BATCH_INPUTS,
  EMBED_DEFAULT_DIMENSION,
  EMBED_TIMEOUT_MS,
} from "../../shared/limits.ts";
import { type Embedder, hashingEmbedder, type Passage } from "./embedder.ts";
import { EmbeddingError } from "./embedding-error.ts";
import { Endpoint, RequestFailure } from "./endpoint.ts";
import { embedPassage } from "./feature-hashing.ts";
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

/** Whether the embeddings of a fingerprint have this dimension. */
export function hasDimension(fingerprint: string, dimension: number): boolean {
  return fingerprint.endsWith(`:${dimension}`);
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
    embedPassages: async (passages) =>
      passages.map(({ headings, content }) => embedPassage(headings, content)),
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

/** What stands for the embedder in the keys of versions: another one embeds the same versions again. */
const PROJECTS_OWN = "project";

/**
 * The embedder of a project for an import. Once it is away, what follows is stored without embeddings, and
 * the service embeds it later; so is all of it without an embedder.
 *
 * @param onAway called once with the reason
 */
export function importEmbedder(
  fingerprint: string,
  embedder: ProjectEmbedder | undefined,
  onAway: (reason: string) => void,
): Embedder {
  let isAway = embedder === undefined;
  const embedBatch = async (passages: readonly Passage[]) => {
    if (embedder === undefined || isAway) return passages.map(() => null);
    try {
      return await embedder.embedPassages(passages, EMBED_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof TextsRefused) return passages.map(() => null);
      if (!(error instanceof EmbedderAway)) throw error;
      isAway = true;
      onAway(error.message);
      return passages.map(() => null);
    }
  };
  return {
    name: PROJECTS_OWN,
    fingerprint,
    async embedPassages(passages) {
      const vectors: Array<Float32Array | null> = [];
      for (let at = 0; at < passages.length; at += EMBED_BATCH_INPUTS) {
        vectors.push(...(await embedBatch(passages.slice(at, at + EMBED_BATCH_INPUTS))));
      }
      return vectors;
    },
    async embedQuery(text) {
      if (embedder === undefined) throw new Error("the embedder of the project is not configured");
      return await embedder.embedQuery(text, EMBED_TIMEOUT_MS);
    },
  };
}

import { setImmediate as nextTurn } from "node:timers/promises";
import { EMBED_DEFAULT_DIMENSION } from "../../domain/limits.ts";
import { padded } from "../../domain/vector.ts";
import { embed, embedPassage } from "./feature-hashing.ts";

/** A chunk of a document with the headings above it. */
export interface Passage {
  readonly headings: readonly string[];
  readonly content: string;
}

export interface Embedder {
  /** Identifies the model and its settings. Vectors of embedders with equal names are comparable. */
  readonly name: string;
  /** That of the project's own embedder; undefined for any other. */
  readonly fingerprint?: string;
  /** One vector per passage, in the order of the passages; null for those that are embedded later. */
  embedPassages(passages: readonly Passage[]): Promise<Array<Float32Array | null>>;
  embedQuery(text: string): Promise<Float32Array>;
}

/** The demonstration embedder. It needs no model and no network. */
export function hashingEmbedder(dimension = EMBED_DEFAULT_DIMENSION): Embedder {
  return {
    name: `feature-hashing-1:${dimension}`,
    async embedPassages(passages) {
      const vectors: Float32Array[] = [];
      for (const { headings, content } of passages) {
        vectors.push(padded(embedPassage(headings, content, dimension)));
        // A long text takes a part of a second, so other work of the thread takes a turn after each text.
        await nextTurn();
      }
      return vectors;
    },
    embedQuery: async (text) => padded(embed(text, dimension)),
  };
}

import { EMBED_DEFAULT_DIMENSION } from "../../shared/limits.ts";
import { embed, embedPassage } from "./feature-hashing.ts";

/** A piece of a document, with the headings above it. */
export interface Passage {
  readonly headings: readonly string[];
  readonly content: string;
}

export interface Embedder {
  /** Names the model and its settings: vectors of the same name can be compared. */
  readonly name: string;
  /** One vector a passage, in their order. */
  embedPassages(passages: readonly Passage[]): Promise<Float32Array[]>;
  embedQuery(text: string): Promise<Float32Array>;
}

/** The embedder for demonstrations, which needs no model and no network. */
export function hashingEmbedder(dimension = EMBED_DEFAULT_DIMENSION): Embedder {
  return {
    name: `feature-hashing-1:${dimension}`,
    embedPassages: async (passages) =>
      passages.map(({ headings, content }) => embedPassage(headings, content, dimension)),
    embedQuery: async (text) => embed(text, dimension),
  };
}

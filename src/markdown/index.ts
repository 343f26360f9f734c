/** The public face of Markdown reading: parse, cut into chunks, embed for demonstrations. */

export { embed, embedPassage } from "../import/embedders/feature-hashing.ts";
export { chunkMarkdown, countTokens } from "./chunk.ts";
export { parseMarkdown } from "./parse.ts";
export type * from "./types.ts";

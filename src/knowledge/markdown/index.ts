/** The public face of Markdown reading: parse, cut into chunks, embed for demonstrations. */
export { chunkMarkdown, countTokens } from "./chunk.ts";
export { embed, embedPassage } from "./embed.ts";
export { parseMarkdown } from "./parse.ts";
export type * from "./types.ts";

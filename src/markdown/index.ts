/** Reading Markdown: parsing a file, and cutting it into chunks. */
export { chunkMarkdown, countTokens } from "./chunk.ts";
export { parseMarkdown } from "./parse.ts";
export type * from "./types.ts";

/** Reading Markdown: parsing a file, and cutting it into chunks. */
export { countTokens, markdownChunks, plainChunks } from "./chunk.ts";
export { readFrontmatter, readFrontmatterValues } from "./frontmatter.ts";
export {
  fileTitle,
  headingsOf,
  isMarkdownPath,
  parseMarkdown,
  plainText,
  titleSearch,
} from "./parse.ts";
export type * from "./types.ts";

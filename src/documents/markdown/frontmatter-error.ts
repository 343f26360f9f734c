/** The message continues the sentence "frontmatter ...". */
export class FrontmatterError extends Error {}

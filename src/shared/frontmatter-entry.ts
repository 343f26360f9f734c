/** One frontmatter entry. A scalar value is plain text, a nested one compact JSON. */
export interface FrontmatterEntry {
  key: string;
  value: string;
}

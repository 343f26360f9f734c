/**
 * Reduces Markdown to the text that a reader sees, on one line. It works on a cut-out, so it leaves
 * what it cannot be sure of. No pattern can restart within its own match, so it takes linear time.
 */
export function plainText(markdown: string): string {
  return markdown
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*$/gm, " ")
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, "$1")
    .replace(/<\/?[a-zA-Z][^<>]*>/g, " ")
    .replace(/^[ \t]*(?:#{1,6}|[-+*>]|\d{1,3}[.)])[ \t]+/gm, "")
    .replace(/[*`~|]+/g, (mark) => (mark.includes("|") ? " " : ""))
    .replace(/\s+/g, " ")
    .trim();
}

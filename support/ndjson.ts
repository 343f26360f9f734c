/** Records, or strings as raw lines, as NDJSON. */
export function ndjson(lines: ReadonlyArray<object | string>): string {
  return lines
    .map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`)
    .join("");
}

/** The documents of a text with one per line. */
// biome-ignore lint/suspicious/noExplicitAny: JSON documents, which tests compare
export const jsonLines = (text: string): any[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

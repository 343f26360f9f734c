type Cell = string | number;

const line = (cells: readonly Cell[]) => process.stdout.write(`| ${cells.join(" | ")} |\n`);

/** Prints the head of a Markdown table. The first column is text, the others are numbers. */
export function printHead(...names: readonly string[]): void {
  process.stdout.write("\n");
  line(names);
  line(names.map((_, i) => (i === 0 ? "---" : "--:")));
}

export function printRow(...cells: readonly Cell[]): void {
  line(cells);
}

/** Bytes as mebibytes. */
export const mebibytes = (bytes: number, digits = 0): string => (bytes / 2 ** 20).toFixed(digits);

/** Seconds since a time of `performance.now()`. */
export const secondsSince = (started: number): number => (performance.now() - started) / 1_000;

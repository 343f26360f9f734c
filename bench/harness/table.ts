type Cell = string | number;

/** Where the text of a benchmark goes. */
export class Output {
  constructor(readonly write: (text: string) => void) {}

  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** The head of a Markdown table. The first column is text, the others are numbers. */
  head(...names: readonly string[]): void {
    this.line();
    this.row(...names);
    this.row(...names.map((_, i) => (i === 0 ? "---" : "--:")));
  }

  row(...cells: readonly Cell[]): void {
    this.line(`| ${cells.join(" | ")} |`);
  }

  /** Records with equal keys, which become the columns of a table with frames. */
  frames(records: readonly object[]): void {
    this.write(Bun.inspect.table(records as object[]));
  }
}

/** Bytes as mebibytes. */
export const mebibytes = (bytes: number, digits = 0): string => (bytes / 2 ** 20).toFixed(digits);

/** Seconds since a time of `performance.now()`. */
export const secondsSince = (started: number): number => (performance.now() - started) / 1_000;

import type { Io, Output } from "./io.ts";

/** Files that a command lists before it changes them. */
const PATHS_SHOWN_MAX = 5;

/** Begins the line of a terminal again, empty. */
export const CLEAR_LINE = "\r\x1b[K";

/** A column of a list: its title, and the text of a row in it. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string];

/** Control characters but line breaks and tabs, and those that change the direction of other text. */
const TERMINAL_CODES = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Writes text, which may have come from a service, a file or a database. Characters that a terminal would take for a
 * command become question marks. All output goes through this file, so that no other text reaches a terminal.
 */
export function write(output: Output, text: string): void {
  output.write(text.replace(TERMINAL_CODES, "?"));
}

/** Writes text of this program with codes for terminals. All other text in it has passed `withoutControls`. */
export function writeStyled(output: Output, text: string): void {
  output.write(text);
}

/** Writes to standard output, which carries results only. */
export function print(io: Io, text: string): void {
  write(io.stdout, text.endsWith("\n") ? text : `${text}\n`);
}

/** A value as a line of JSON. Characters that control a terminal are escaped, so that none is lost. */
export function jsonLine(value: unknown): string {
  const escaped = (code: string) => `\\u${code.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value).replace(TERMINAL_CODES, escaped)}\n`;
}

/** Writes a message to standard error. */
export function notice(io: Pick<Io, "stderr">, line: string): void {
  write(io.stderr, `tessera: ${line}\n`);
}

/** Prints rows as a table, or as one JSON object per line. `empty` is the message for a list without rows. */
export function printList<Row extends object>(
  io: Io,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { json = false, empty }: { readonly json?: boolean | undefined; readonly empty: string },
): void {
  if (json) {
    for (const row of rows) print(io, jsonLine(row));
    return;
  }
  if (rows.length === 0) {
    notice(io, empty);
    return;
  }
  print(io, tableOf(rows, columns));
}

/** A table with padded columns. Numbers are right-aligned. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(([, cell]) => withoutControls(cell(row))));
  const all = [columns.map(([title]) => title), ...cells];
  const widths = columns.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  const padded = (cell: string, i: number) =>
    /^\d+$/.test(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0);
  return all.map((row) => `${row.map(padded).join("  ").trimEnd()}\n`).join("");
}

/** A name on one line: names may have line breaks, too. */
export function withoutControls(text: string): string {
  return text.replace(TERMINAL_CODES, "?").replace(/[\n\t]/g, "?");
}

/** The first of some paths after a label, one per line, and the number of the others. */
export function firstOf(paths: readonly string[], label: string): string[] {
  const shown = paths.slice(0, PATHS_SHOWN_MAX).map(withoutControls);
  const more = paths.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].map((text) => `${label} ${text}`);
}

/** A time to the second; `-` for none. */
export function shortTime(time: Date | string | null): string {
  return time === null ? "-" : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** A number and its noun, in the singular for one. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun}${noun.endsWith("ch") ? "es" : "s"}`;
}

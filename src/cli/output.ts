import { Option } from "commander";
import type { Io } from "./io.ts";
import { formatTable } from "./table.ts";

/** A column of a list: its title, and the text of a row in it. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string];

/** `--json`, for every command that prints a list. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON lines instead of a table");
}

/** Writes to standard output, which carries nothing but results. */
export function print(io: Io, text: string): void {
  io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** Tells a person something that is not the result. */
export function notice(io: Io, line: string): void {
  io.stderr.write(`tessera: ${line}\n`);
}

/** Prints rows as a table, or as one JSON object per line. `empty` is said when there are none. */
export function printList<Row extends object>(
  io: Io,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { json = false, empty }: { readonly json?: boolean | undefined; readonly empty: string },
): void {
  if (json) {
    for (const row of rows) print(io, JSON.stringify(row));
    return;
  }
  if (rows.length === 0) {
    notice(io, empty);
    return;
  }
  const header = columns.map(([title]) => title);
  print(
    io,
    formatTable(
      header,
      rows.map((row) => columns.map(([, cell]) => withoutControls(cell(row)))),
    ),
  );
}

/** Names may contain control characters, which must not reach a terminal. */
export function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}

/** A time to the second; `-` for none. */
export function shortTime(time: Date | null): string {
  return time === null ? "-" : `${time.toISOString().slice(0, 19)}Z`;
}

/** A number and its noun, in the singular for one. */
export function plural(count: number, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${count} ${noun}${noun.endsWith("ch") ? "es" : "s"}`;
}

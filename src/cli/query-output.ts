import { SNIPPET_MAX_CHARS } from "../domain/limits.ts";
import type { Io, Output } from "./io.ts";
import { type Column, printList, withoutControls, writeStyled } from "./output.ts";

/** A result of a query, as a person reads it. */
export interface Found {
  readonly score: string;
  /** A path, or a path with the number of a chunk. */
  readonly place: string;
  readonly title?: string | undefined;
  readonly passage: string;
  /** The ranges of the passage that match, as [start, end) in UTF-16 units. */
  readonly matches: ReadonlyArray<readonly number[]>;
}

const COLUMNS_DEFAULT = 80;
/** A terminal that claims to be narrower has not told its width: pseudo-terminals start with 0 columns. */
const COLUMNS_MIN = 21;
const INDENT = "   ";
const BOLD = ["\x1b[1m", "\x1b[22m"] as const;
const YELLOW = ["\x1b[33m", "\x1b[39m"] as const;

const styled = (text: string, [on, off]: readonly [string, string]) => `${on}${text}${off}`;

/** Text on one line, cut to the length of a snippet. */
export function excerpt(content: string): string {
  const line = content.replace(/\s+/g, " ").trim();
  return line.length <= SNIPPET_MAX_CHARS ? line : `${line.slice(0, SNIPPET_MAX_CHARS - 1)}…`;
}

/** The passage in lines of this width, with the matches in colour. */
function passageLines({ passage, matches }: Found, width: number): string[] {
  const lines: string[] = [];
  let [line, length] = ["", 0];
  for (const { 0: word, index } of passage.matchAll(/\S+/g)) {
    const isMatch = matches.some(
      ([start = 0, end = 0]) => start < index + word.length && end > index,
    );
    const clean = withoutControls(word);
    if (length > 0 && length + 1 + word.length > width) {
      lines.push(line);
      [line, length] = ["", 0];
    }
    const gap = length > 0 ? " " : "";
    line += gap + (isMatch ? styled(clean, YELLOW) : clean);
    length += gap.length + word.length;
  }
  return [...lines, line].map((each) => INDENT + each);
}

function stacked(found: Found, width: number): string {
  const place = styled(withoutControls(found.place), BOLD);
  const title = found.title === undefined ? "" : `  ${withoutControls(found.title)}`;
  const lines = passageLines(found, width - INDENT.length);
  return [`${found.score}  ${place}${title}`, ...lines].join("\n");
}

function widthOf({ columns = COLUMNS_DEFAULT }: Output): number {
  return columns < COLUMNS_MIN ? COLUMNS_DEFAULT : columns;
}

/** Prints results one below the other on a terminal, as a table elsewhere, or as JSON lines. */
export function printFound<Result extends object>(
  io: Io,
  results: readonly Result[],
  {
    columns,
    read,
    json,
  }: {
    readonly columns: readonly Column<Found>[];
    readonly read: (result: Result) => Found;
    readonly json?: boolean | undefined;
  },
): void {
  const empty = "nothing found";
  const found = results.map(read);
  if (json === true) printList(io, results, [], { json, empty });
  else if (!io.stdout.isTTY || found.length === 0) printList(io, found, columns, { empty });
  else {
    const width = widthOf(io.stdout);
    writeStyled(io.stdout, `${found.map((each) => stacked(each, width)).join("\n\n")}\n`);
  }
}

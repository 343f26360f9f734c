import type { Token } from "markdown-it";
import type { Span } from "./cut.ts";
import { withoutData } from "./data-addresses.ts";
import { dialect } from "./dialect.ts";
import { type HtmlHeading, htmlHeadings } from "./html.ts";
import { type Env, headingText, textOfTokens } from "./text.ts";

export interface Heading {
  /** 1..6 */
  readonly level: number;
  /** Plain text, at most HEADING_MAX_CHARS long. */
  readonly text: string;
  /** The heading's lines in the file, in UTF-16 code units; `end` is after the line break. */
  readonly start: number;
  readonly end: number;
}

/** A top-level block of a Markdown file. */
export interface Block {
  /** Its lines in the file, in UTF-16 code units; `end` is after the last line break. */
  readonly start: number;
  readonly end: number;
  /** The headings in the block, also those in its lists, quotes and HTML. */
  readonly headings: readonly Heading[];
  /** True if the block begins a section. */
  readonly isHeading: boolean;
  readonly form: BlockForm;
  /** The lines of a table above its rows, which name its columns. */
  readonly head?: Span | undefined;
  /** The text that a reader sees, without the headings. */
  text(): string;
  /** False for definitions, comments, imports and other blocks that a reader does not see. */
  isVisible(): boolean;
  /** The blocks in a list, a quote or a footnote, which cover it without gaps; empty for others. */
  parts(): Part[];
}

/** Blocks of lines are code, tables and HTML; blocks of text are paragraphs. */
type BlockForm = "lines" | "text";

/** A block inside another one. */
export type Part = Pick<Block, "start" | "end" | "form" | "head" | "parts">;

const HIDDEN = new Set(["reference_definition", "comment", "module", "hr"]);
const LINES = new Set(["code_block", "fence", "html_block", "table_open"]);
/** First characters of a paragraph that may be hidden from a reader. */
const MAYBE_HIDDEN = /^[{<[!:%^]/;
const DEFINITION = /^ {0,3}\[((?:[^\]\\\n]|\\.){1,999})\]:/gm;
const LINE_END = /\r\n?|\n/g;

/** The offsets at which the lines of a text begin, and that of its end. */
function lineStarts(text: string, from: number): number[] {
  const starts = [from];
  LINE_END.lastIndex = from;
  while (LINE_END.test(text)) starts.push(LINE_END.lastIndex);
  if (starts.at(-1) !== text.length) starts.push(text.length);
  return starts;
}

/** Labels of definitions in the whole text, because a link may be before its definition. */
function definitionsIn(source: string): Record<string, { href: string; title: string }> {
  const found: Record<string, { href: string; title: string }> = Object.create(null);
  if (!source.includes("]:")) return found;
  for (const [, label = ""] of source.matchAll(DEFINITION)) {
    found[dialect.utils.normalizeReference(label)] = { href: "", title: "" };
  }
  return found;
}

/** Reads the blocks of a Markdown body one by one, so that callers can pause in between. */
export function* readBlocks(text: string, from: number): Generator<Block> {
  // It has the same lines.
  const { text: shown } = withoutData(text.slice(from));
  const source = shown.replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd");
  const env: Env = { references: definitionsIn(source) };
  const { State, ruler } = dialect.block;
  const state = new State(source, dialect, env, []);
  const rules = ruler.getRules("");
  const starts = lineStarts(text, from);
  const offsetOf = (line: number) => starts[line] ?? text.length;
  for (let line = state.skipEmptyLines(0); line < state.lineMax; ) {
    state.line = line;
    state.tokens = [];
    rules.some((rule) => rule(state, line, state.lineMax, false));
    yield new ParsedBlock(state.tokens, env, offsetOf, line, state.line);
    line = state.skipEmptyLines(state.line);
  }
}

type OffsetOf = (line: number) => number;

class ParsedBlock implements Block {
  readonly start: number;
  readonly end: number;
  readonly headings: readonly Heading[];
  readonly isHeading: boolean;
  readonly form: BlockForm;
  readonly head?: Span | undefined;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly env: Env,
    private readonly offsetOf: OffsetOf,
    firstLine: number,
    endLine: number,
  ) {
    this.start = offsetOf(firstLine);
    this.end = offsetOf(endLine);
    const first = tokens[0];
    this.headings = this.#findHeadings();
    this.isHeading =
      first?.type === "heading_open" || (first?.type === "html_block" && this.headings.length > 0);
    this.form = formOf(first);
    this.head = headOf(first, offsetOf);
  }

  #findHeadings(): Heading[] {
    const headings: Heading[] = [];
    const { tokens, offsetOf } = this;
    tokens.forEach(({ type, tag, map, content }, i) => {
      const [start, end] = (map ?? [0, 0]).map(offsetOf) as [number, number];
      if (type === "heading_open") {
        const text = headingText((tokens[i + 1] as Token).content, this.env);
        headings.push({ level: Number(tag.slice(1)), text, start, end });
      } else if (type === "html_block") {
        const place = ({ level, text }: HtmlHeading) => ({ level, text, start, end });
        headings.push(...htmlHeadings(content).map(place));
      }
    });
    return headings;
  }

  text(): string {
    return textOfTokens(this.tokens, this.env);
  }

  isVisible(): boolean {
    const [first, second] = this.tokens;
    if (first === undefined || HIDDEN.has(first.type)) return false;
    if (this.headings.length > 0) return true;
    if (first.type === "html_block") return this.text() !== "";
    if (first.type !== "paragraph_open") return true;
    return !MAYBE_HIDDEN.test(second?.content ?? "") || this.text() !== "";
  }

  parts(): Part[] {
    return partsOf(this.tokens, this.start, this.end, this.offsetOf);
  }
}

function formOf(first: Token | undefined): BlockForm {
  return first !== undefined && LINES.has(first.type) ? "lines" : "text";
}

/** The names of a table's columns and the line below them. */
function headOf(first: Token | undefined, offsetOf: OffsetOf): Span | undefined {
  if (first?.type !== "table_open" || first.map === null) return undefined;
  const [line] = first.map;
  return { start: offsetOf(line), end: offsetOf(line + 2) };
}

/** Groups the tokens inside a container by block. */
function partsOf(tokens: readonly Token[], start: number, end: number, offsetOf: OffsetOf): Part[] {
  const container = tokens[0];
  if (container === undefined || container.nesting !== 1 || formOf(container) === "lines")
    return [];
  const level = container.level + 1;
  const groups: Token[][] = [];
  for (const token of tokens.slice(1, -1)) {
    const begins = token.level === level && token.nesting >= 0 && token.map !== null;
    if (begins && token.type !== "inline") groups.push([token]);
    else groups.at(-1)?.push(token);
  }
  const startOf = (group: readonly Token[], i: number) =>
    i === 0 ? start : offsetOf(group[0]?.map?.[0] ?? 0);
  return groups.map((group, i) => {
    const next = groups[i + 1];
    const own = { start: startOf(group, i), end: next ? startOf(next, i + 1) : end };
    const parts = () => partsOf(group, own.start, own.end, offsetOf);
    return { ...own, form: formOf(group[0]), head: headOf(group[0], offsetOf), parts };
  });
}

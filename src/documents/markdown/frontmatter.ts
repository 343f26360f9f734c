import { parseJson } from "../../domain/json/parse.ts";
import { FRONTMATTER_MAX_CHARS, FRONTMATTER_MAX_ENTRIES } from "../../domain/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import { type Plain, plainText, readPlainYaml } from "./plain-yaml.ts";
import type { FrontmatterEntry } from "./types.ts";

/** Maps and lists in each other. */
const JSON_MAX_DEPTH = 16;

interface Frontmatter {
  entries: FrontmatterEntry[];
  /** Where the body starts in the text, in UTF-16 code units. */
  bodyOffset: number;
  /** The block that cannot be read and is text before the body; null without such a block. */
  unread: { readonly start: number; readonly end: number } | null;
  /** The reason why the block is text, in one line; null if it is not. */
  warning: string | null;
}

type Language = "YAML" | "TOML" | "JSON";

/** The lines around a block, and the language between them. */
const FENCES: readonly Fence[] = [
  {
    opening: /^---(?:[ \t]*ya?ml)?[ \t]*(?:\r\n|\n|\r)/,
    closing: /^(?:---|\.\.\.)[ \t]*$/,
    mark: "---",
    language: "YAML",
  },
  {
    opening: /^---[ \t]*json[ \t]*(?:\r\n|\n|\r)/,
    closing: /^---[ \t]*$/,
    mark: "---",
    language: "JSON",
  },
  {
    opening: /^\+\+\+[ \t]*(?:\r\n|\n|\r)/,
    closing: /^\+\+\+[ \t]*$/,
    mark: "+++",
    language: "TOML",
  },
];

interface Fence {
  readonly opening: RegExp;
  readonly closing: RegExp;
  readonly mark: string;
  readonly language: Language;
}

const LINE_END = /\r\n?|\n/g;

/** The block of YAML, TOML or JSON at the top of a Markdown file. */
interface Block {
  /** Without the fences; null without a closed block. */
  readonly source: string | null;
  readonly language: Language;
  readonly start: number;
  readonly bodyOffset: number;
  readonly warning: string | null;
}

/** A block without a closing fence is text. */
function findBlock(text: string): Block {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const none: Block = {
    source: null,
    start,
    bodyOffset: start,
    warning: null,
    language: "YAML",
  };
  const window = text.slice(start, start + FENCE_WINDOW);
  if (BRACE.test(window)) return { ...none, ...bracedBlock(text, start) };
  const fence = FENCES.find(({ opening }) => opening.test(window));
  if (fence === undefined) return none;
  const from = start + (fence.opening.exec(window) as RegExpExecArray)[0].length;
  const closing = findClosingFence(text, from, fence.closing);
  if (closing === null) {
    const warning = `frontmatter is not closed by a line "${fence.mark}" within ${FRONTMATTER_MAX_CHARS} characters`;
    return { ...none, warning };
  }
  const { end, bodyOffset } = closing;
  return { ...none, source: text.slice(from, end), language: fence.language, bodyOffset };
}

/** The brace of a map of JSON, which stands for both fences. Braces of templates are followed by other signs. */
const BRACE = /^\{[ \t]*(?:[\r\n]|"[^"\r\n]*"[ \t]*:)/;
const JSON_MARK = /"(?:[^"\\]|\\[\s\S])*"|[{}]/g;

/** The map of JSON that begins at an offset. Empty if the map has no end, or if text follows on its last line. */
function bracedBlock(text: string, start: number): Partial<Block> {
  let depth = 0;
  for (const { 0: mark, index } of text
    .slice(start, start + FRONTMATTER_MAX_CHARS)
    .matchAll(JSON_MARK)) {
    if (mark === "{") depth++;
    if (mark !== "}" || --depth > 0) continue;
    const end = start + index + 1;
    const [rest] = /^[ \t]*(?:\r\n?|\n|$)/.exec(text.slice(end, end + FENCE_WINDOW)) ?? [];
    if (rest === undefined) return {};
    return { source: text.slice(start, end), language: "JSON", bodyOffset: end + rest.length };
  }
  return {};
}

/**
 * Reads the block of YAML, TOML or JSON at the top of a Markdown file. Never throws: a block that is not valid is
 * text, with a warning; a value other than a map, such as YAML between two rules, is a part of the body.
 */
export function readFrontmatter(text: string): Frontmatter {
  const { source, language, start, bodyOffset, warning } = findBlock(text);
  if (source === null) return { entries: [], bodyOffset, unread: null, warning };
  try {
    const entries = entriesOf(source, language, "scalarAsWritten");
    if (entries === null) return { entries: [], bodyOffset: start, unread: null, warning: null };
    const texts = entries.map(([key, value]) => ({ key, value: plainText(value) }));
    return { entries: texts, bodyOffset, unread: null, warning: null };
  } catch (cause) {
    const unread = { start, end: bodyOffset };
    return { entries: [], bodyOffset, unread, warning: warningText(cause, language) };
  }
}

/** The values of the block with their types, by key; empty without a valid block. */
export function readFrontmatterValues(text: string): Readonly<Record<string, unknown>> {
  const { source, language } = findBlock(text);
  if (source === null) return {};
  try {
    return Object.fromEntries(entriesOf(source, language, "typedScalar") ?? []);
  } catch {
    // The import reported the fault in the block.
    return {};
  }
}

/** The entries of a block; null for YAML that is not a map. Throws a FrontmatterError, or the error of a parser. */
function entriesOf(
  source: string,
  language: Language,
  scalar: "scalarAsWritten" | "typedScalar",
): [key: string, value: Plain][] | null {
  if (language === "TOML") return tomlParser().parseToml(source);
  if (language === "JSON") return parseJsonBlock(source);
  return readPlainYaml(source) ?? yamlParser().parseYaml(source, yamlParser()[scalar]);
}

/** Long enough for a fence and trailing blanks. */
const FENCE_WINDOW = 80;

function findClosingFence(
  text: string,
  from: number,
  fence: RegExp,
): { end: number; bodyOffset: number } | null {
  const horizon = Math.min(text.length, from + FRONTMATTER_MAX_CHARS);
  let lineStart = from;
  while (lineStart <= horizon) {
    LINE_END.lastIndex = lineStart;
    const lineEnd = LINE_END.exec(text)?.index ?? text.length;
    const next = lineEnd === text.length ? lineEnd : LINE_END.lastIndex;
    const line = text.slice(lineStart, Math.min(lineEnd, lineStart + FENCE_WINDOW));
    if (fence.test(line)) return { end: lineStart, bodyOffset: next };
    if (lineEnd === text.length) return null;
    lineStart = next;
  }
  return null;
}

function warningText(cause: unknown, language: Language): string {
  if (cause instanceof FrontmatterError) return `frontmatter ${cause.message}`;
  if (cause instanceof RangeError) return "frontmatter is nested too deeply";
  return `frontmatter is not valid ${language}`;
}

/** Loaded with the first block that needs it, because few do and every thread would load it. */
function yamlParser(): typeof import("./yaml.ts") {
  return require("./yaml.ts");
}

function tomlParser(): typeof import("./toml.ts") {
  return require("./toml.ts");
}

/** Reads a block of JSON. Null if it is not a map. Throws a FrontmatterError. */
function parseJsonBlock(source: string): [key: string, value: Plain][] | null {
  let value: unknown;
  try {
    value = parseJson(source);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new FrontmatterError("is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(value) as [string, Plain][];
  if (entries.length > FRONTMATTER_MAX_ENTRIES) {
    throw new FrontmatterError(`has more than ${FRONTMATTER_MAX_ENTRIES} keys`);
  }
  if (depthOf(value) > JSON_MAX_DEPTH) throw new FrontmatterError("is nested too deeply");
  return entries;
}

/** The map itself counts as 0. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return -1;
  return 1 + Math.max(-1, ...Object.values(value).map(depthOf));
}

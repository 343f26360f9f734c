import type { FrontmatterEntry } from "../shared/frontmatter-entry.ts";
import { FRONTMATTER_MAX_CHARS } from "../shared/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import { plainText, readPlainYaml } from "./plain-yaml.ts";

interface Frontmatter {
  entries: FrontmatterEntry[];
  /** Where the body starts in the text, in UTF-16 code units. */
  bodyOffset: number;
  /** A block that cannot be read, which is text before the body; null if it could be, or there is none. */
  unread: { readonly start: number; readonly end: number } | null;
  /** Why the block is text, in one line; null if it is not. */
  warning: string | null;
}

/** The lines around a block, and the language of what is between them. */
const FENCES = [
  {
    opening: /^---[ \t]*(?:\r\n|\n|\r)/,
    closing: /^(?:---|\.\.\.)[ \t]*$/,
    mark: "---",
    isToml: false,
  },
  { opening: /^\+\+\+[ \t]*(?:\r\n|\n|\r)/, closing: /^\+\+\+[ \t]*$/, mark: "+++", isToml: true },
] as const;
const LINE_END = /\r\n?|\n/g;

/** The block of YAML or TOML at the top of a Markdown file. */
interface Block {
  /** Without the fences; null when there is none, or it is not closed. */
  readonly source: string | null;
  readonly isToml: boolean;
  readonly start: number;
  readonly bodyOffset: number;
  readonly warning: string | null;
}

/** A block without a closing fence is text. */
function findBlock(text: string): Block {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const none = { source: null, isToml: false, start, bodyOffset: start, warning: null };
  const window = text.slice(start, start + FENCE_WINDOW);
  const fence = FENCES.find(({ opening }) => opening.test(window));
  if (fence === undefined) return none;
  const from = start + (fence.opening.exec(window) as RegExpExecArray)[0].length;
  const closing = findClosingFence(text, from, fence.closing);
  if (closing === null) {
    const warning = `frontmatter is not closed by a line "${fence.mark}" within ${FRONTMATTER_MAX_CHARS} characters`;
    return { ...none, warning };
  }
  const { end, bodyOffset } = closing;
  return { ...none, source: text.slice(from, end), isToml: fence.isToml, bodyOffset };
}

/**
 * Reads the block of YAML or TOML at the top of a Markdown file. Never throws: a block that is not valid is
 * text, with a warning; YAML that is not a map, as between two rules, is a part of the body.
 */
export function readFrontmatter(text: string): Frontmatter {
  const { source, isToml, start, bodyOffset, warning } = findBlock(text);
  if (source === null) return { entries: [], bodyOffset, unread: null, warning };
  try {
    const entries = isToml
      ? tomlParser().parseToml(source)
      : (readPlainYaml(source) ?? yamlParser().parseYaml(source, yamlParser().scalarAsWritten));
    if (entries === null) return { entries: [], bodyOffset: start, unread: null, warning: null };
    const texts = entries.map(([key, value]) => ({ key, value: plainText(value) }));
    return { entries: texts, bodyOffset, unread: null, warning: null };
  } catch (cause) {
    const unread = { start, end: bodyOffset };
    return { entries: [], bodyOffset, unread, warning: warningText(cause, isToml) };
  }
}

/** The values of the block with their types, by key; empty without a valid block. */
export function readFrontmatterValues(text: string): Readonly<Record<string, unknown>> {
  const { source, isToml } = findBlock(text);
  if (source === null) return {};
  try {
    const entries = isToml
      ? tomlParser().parseToml(source)
      : (readPlainYaml(source) ?? yamlParser().parseYaml(source, yamlParser().typedScalar));
    return Object.fromEntries(entries ?? []);
  } catch {
    // What is wrong with it was reported when the file was imported.
    return {};
  }
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

function warningText(cause: unknown, isToml: boolean): string {
  if (cause instanceof FrontmatterError) return `frontmatter ${cause.message}`;
  if (cause instanceof RangeError) return "frontmatter is nested too deeply";
  return `frontmatter is not valid ${isToml ? "TOML" : "YAML"}`;
}

/** Loaded with the first block that needs it, because few do and every thread would load it. */
function yamlParser(): typeof import("./yaml.ts") {
  return require("./yaml.ts");
}

function tomlParser(): typeof import("./toml.ts") {
  return require("./toml.ts");
}

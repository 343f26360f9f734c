import type { FrontmatterEntry } from "../shared/frontmatter-entry.ts";
import { FRONTMATTER_MAX_CHARS } from "../shared/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import { plainText, readPlainYaml } from "./plain-yaml.ts";

interface Frontmatter {
  entries: FrontmatterEntry[];
  /** Where the body starts in the text, in UTF-16 code units. */
  bodyOffset: number;
  /** Why the block was ignored, in one line; null if it was not. */
  warning: string | null;
}

const OPENING_FENCE = /^---[ \t]*(?:\r\n|\n|\r)/;
const CLOSING_FENCE = /^(?:---|\.\.\.)[ \t]*$/;

/** The YAML block at the top of a Markdown file. */
interface Block {
  /** Without the fences; null when there is none, or it is not closed. */
  readonly yaml: string | null;
  readonly bodyOffset: number;
  readonly warning: string | null;
}

/** A block without a closing fence is text. */
function findBlock(text: string): Block {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const opening = OPENING_FENCE.exec(text.slice(start, start + FENCE_WINDOW));
  if (opening === null) return { yaml: null, bodyOffset: start, warning: null };

  const yamlStart = start + opening[0].length;
  const closing = findClosingFence(text, yamlStart);
  if (closing === null) {
    const warning = `frontmatter is not closed by a line "---" within ${FRONTMATTER_MAX_CHARS} characters`;
    return { yaml: null, bodyOffset: start, warning };
  }
  const { yamlEnd, bodyOffset } = closing;
  return { yaml: text.slice(yamlStart, yamlEnd), bodyOffset, warning: null };
}

/**
 * Reads the YAML block at the top of a Markdown file. Never throws: an invalid block is skipped with
 * a warning.
 */
export function readFrontmatter(text: string): Frontmatter {
  const { yaml, bodyOffset, warning } = findBlock(text);
  if (yaml === null) return { entries: [], bodyOffset, warning };
  try {
    const entries =
      readPlainYaml(yaml) ?? yamlParser().parseYaml(yaml, yamlParser().scalarAsWritten);
    const texts = entries.map(([key, value]) => ({ key, value: plainText(value) }));
    return { entries: texts, bodyOffset, warning: null };
  } catch (cause) {
    return { entries: [], bodyOffset, warning: warningText(cause) };
  }
}

/** The values of the YAML block with their types, by key; empty without a valid block. */
export function readFrontmatterValues(text: string): Readonly<Record<string, unknown>> {
  const { yaml } = findBlock(text);
  if (yaml === null) return {};
  try {
    const entries = readPlainYaml(yaml) ?? yamlParser().parseYaml(yaml, yamlParser().typedScalar);
    return Object.fromEntries(entries);
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
): { yamlEnd: number; bodyOffset: number } | null {
  const horizon = Math.min(text.length, from + FRONTMATTER_MAX_CHARS);
  let lineStart = from;
  while (lineStart <= horizon) {
    let lineEnd = text.indexOf("\n", lineStart);
    if (lineEnd < 0) lineEnd = text.length;
    const line = text.slice(lineStart, Math.min(lineEnd, lineStart + FENCE_WINDOW));
    if (CLOSING_FENCE.test(line.endsWith("\r") ? line.slice(0, -1) : line)) {
      return { yamlEnd: lineStart, bodyOffset: Math.min(lineEnd + 1, text.length) };
    }
    if (lineEnd === text.length) return null;
    lineStart = lineEnd + 1;
  }
  return null;
}

function warningText(cause: unknown): string {
  if (cause instanceof FrontmatterError) return `frontmatter ${cause.message}`;
  if (cause instanceof RangeError) return "frontmatter is nested too deeply";
  return "frontmatter is not valid YAML";
}

/** Loaded with the first block that needs it, because few do and every thread would load it. */
function yamlParser(): typeof import("./yaml.ts") {
  return require("./yaml.ts");
}

import type { FrontmatterEntry } from "../shared/frontmatter-entry.ts";
import { FRONTMATTER_MAX_CHARS } from "../shared/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import { readPlainYaml } from "./plain-yaml.ts";

interface Frontmatter {
  entries: FrontmatterEntry[];
  /** Where the body starts in the text, in UTF-16 code units. */
  bodyOffset: number;
  /** Why the block was ignored, in one line; null if it was not. */
  warning: string | null;
}

const OPENING_FENCE = /^---[ \t]*(?:\r\n|\n|\r)/;
const CLOSING_FENCE = /^(?:---|\.\.\.)[ \t]*$/;

/**
 * Reads the YAML block at the top of a Markdown file. Never throws: an invalid block is skipped with
 * a warning. A block without a closing fence is text.
 */
export function readFrontmatter(text: string): Frontmatter {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const opening = OPENING_FENCE.exec(text.slice(start, start + FENCE_WINDOW));
  if (opening === null) return { entries: [], bodyOffset: start, warning: null };

  const yamlStart = start + opening[0].length;
  const closing = findClosingFence(text, yamlStart);
  if (closing === null) {
    return {
      entries: [],
      bodyOffset: start,
      warning: `frontmatter is not closed by a line "---" within ${FRONTMATTER_MAX_CHARS} characters`,
    };
  }
  const bodyOffset = closing.bodyOffset;
  try {
    return {
      entries: parseEntries(text.slice(yamlStart, closing.yamlEnd)),
      bodyOffset,
      warning: null,
    };
  } catch (cause) {
    return { entries: [], bodyOffset, warning: warningText(cause) };
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

function parseEntries(yaml: string): FrontmatterEntry[] {
  return readPlainYaml(yaml) ?? yamlParser().parseYaml(yaml);
}

/** Loaded with the first block that needs it, because few do and every thread would load it. */
function yamlParser(): typeof import("./yaml.ts") {
  return require("./yaml.ts");
}

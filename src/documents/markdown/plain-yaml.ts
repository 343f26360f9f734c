import type { WrittenNumber } from "../../domain/json/parse.ts";
import { FRONTMATTER_MAX_ENTRIES } from "../../domain/limits.ts";

/** A line `key: value` in which YAML gives no character a special meaning. */
const LINE = /^( *)([A-Za-z_][\w-]*):(?: (.*))?$/;
/** An item of a list on a line of its own. */
const ITEM = /^( *)- (.*)$/;
/** White space that YAML does not strip as JavaScript does. */
const OTHER_SPACE = /[^\S ]/;
/** Text in which no colon ends a key and no hash begins a comment, a whole number, or a date. */
const PLAIN =
  /^(?:[\p{L}/](?:[^:#\p{Cc}\ufeff]|:(?=\S)|(?<=\S)#)*|0|[1-9]\d{0,14}|\d{4}-\d\d-\d\d)$/u;
/** Text in double quotes with the escapes that JSON has too. */
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\["\\/nrt])*"$/u;
/** Text in single quotes without any in it. */
const SINGLE_QUOTED = /^'[^'\p{Cc}\ufeff]*'$/u;
/** A list of words, or of quoted text without commas, in brackets. */
const LIST =
  /^\[(?:(?:[\p{L}/][\p{L}\p{N}_/.-]*(?: [\p{L}\p{N}_/.-]+)*|'[^',\p{Cc}\ufeff]*')(?:, *(?:[\p{L}/][\p{L}\p{N}_/.-]*(?: [\p{L}\p{N}_/.-]+)*|'[^',\p{Cc}\ufeff]*'))*)?\]$/u;
/** Maximum depth of nested maps and lists. The YAML parser reads deeper ones. */
const PLAIN_MAX_DEPTH = 4;
/** Words that are not text in YAML's core schema, except for `true` and `false`. */
const NOT_TEXT = /^(?:null|Null|NULL|True|TRUE|False|FALSE)$/;

/** A value of YAML. Null stands for an entry without a value. */
export type Plain =
  | string
  | number
  | WrittenNumber
  | boolean
  | null
  | Plain[]
  | { [key: string]: Plain };

/** A value as one text: nested ones are compact JSON. */
export function plainText(value: Plain): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Undefined for a value that is not plain. */
function readValue(text: string): Plain | undefined {
  if (text === "") return null;
  if (QUOTED.test(text)) return JSON.parse(text) as string;
  if (SINGLE_QUOTED.test(text)) return text.slice(1, -1);
  if (LIST.test(text)) return readList(text);
  if (!PLAIN.test(text) || NOT_TEXT.test(text)) return undefined;
  if (text === "true" || text === "false") return text === "true";
  return /^\d+$/.test(text) ? Number(text) : text;
}

function readList(text: string): string[] | undefined {
  const words = text === "[]" ? [] : text.slice(1, -1).split(/, */);
  const isText = words.every((word) => !NOT_TEXT.test(word) && word !== "true" && word !== "false");
  return isText ? words.map((word) => word.replace(/^'|'$/g, "")) : undefined;
}

type Entries = [key: string, value: Plain][];

/**
 * Reads YAML of the simplest form, in which most frontmatter is written, a dozen times faster than a YAML parser. Null
 * for any other form, or a repeated key.
 */
export function readPlainYaml(yaml: string): Entries | null {
  const lines = yaml.split("\n");
  if (lines.at(-1) === "") lines.pop();
  // The YAML parser counts all values.
  if (lines.length > FRONTMATTER_MAX_ENTRIES) return null;
  const reader = new PlainReader(lines);
  const entries = reader.map(0, 0);
  return reader.isAtEnd ? entries : null;
}

/** Reads lines in order. A result of undefined, or a remaining line, means that the YAML is not plain. */
class PlainReader {
  #next = 0;

  constructor(private readonly lines: readonly string[]) {}

  get isAtEnd(): boolean {
    return this.#next === this.lines.length;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    const line = this.lines[this.#next] ?? "";
    return pattern.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  /** The entries whose keys begin in this column, from 0. */
  map(column: number, depth: number): Entries | null {
    const entries: Entries = [];
    const keys = new Set<string>();
    for (;;) {
      const [, indent, key, written = ""] = this.#match(LINE) ?? [];
      if (key === undefined || indent?.length !== column) break;
      this.#next++;
      const text = written.trim();
      const value = text === "" ? this.#below(column, depth + 1) : readValue(text);
      if (value === undefined || NOT_TEXT.test(key) || OTHER_SPACE.test(written)) return null;
      keys.add(key);
      entries.push([key, value]);
    }
    return keys.size === entries.length ? entries : null;
  }

  /** The map or the list in the lines below a key; null without one. */
  #below(column: number, depth: number): Plain | undefined {
    const item = this.#match(ITEM)?.[1]?.length ?? -1;
    const inner = this.#match(LINE)?.[1]?.length ?? -1;
    if (item < column && inner <= column) return null;
    if (depth > PLAIN_MAX_DEPTH) return undefined;
    if (item >= column) return this.#list(item);
    const entries = this.map(inner, depth);
    if (entries === null) return undefined;
    // With a null prototype, a key such as __proto__ is an ordinary key.
    const map: { [key: string]: Plain } = Object.create(null);
    for (const [key, value] of entries) map[key] = value;
    return map;
  }

  #list(column: number): Plain[] | undefined {
    const items: Plain[] = [];
    for (;;) {
      const [, indent, written = ""] = this.#match(ITEM) ?? [];
      if (indent?.length !== column) return items;
      const text = written.trim();
      const value = text === "" ? undefined : readValue(text);
      if (value === undefined || OTHER_SPACE.test(written)) return undefined;
      this.#next++;
      items.push(value);
    }
  }
}

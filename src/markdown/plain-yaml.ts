import type { WrittenNumber } from "../shared/json/parse.ts";
import { FRONTMATTER_MAX_ENTRIES } from "../shared/limits.ts";

/** A line `key: value` that means in YAML what it looks like. */
const LINE = /^([A-Za-z_][\w-]*):(?: (.*))?$/;
/** White space that YAML does not strip as JavaScript does. */
const OTHER_SPACE = /[^\S ]/;
/** Text without colons and hashes, a whole number, or a date. */
const PLAIN = /^(?:[A-Za-z][^:#\p{Cc}\ufeff]*|0|[1-9]\d{0,14}|\d{4}-\d\d-\d\d)$/u;
/** Text in double quotes with the escapes that JSON has too. */
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\["\\/nrt])*"$/u;
/** A list of words in brackets. */
const LIST = /^\[(?:[A-Za-z][\w/-]*(?: [\w/-]+)*(?:, *[A-Za-z][\w/-]*(?: [\w/-]+)*)*)?\]$/;
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
  if (LIST.test(text)) return readList(text);
  if (!PLAIN.test(text) || NOT_TEXT.test(text)) return undefined;
  if (text === "true" || text === "false") return text === "true";
  return /^\d+$/.test(text) ? Number(text) : text;
}

function readList(text: string): string[] | undefined {
  const words = text === "[]" ? [] : text.slice(1, -1).split(/, */);
  const isText = words.every((word) => !NOT_TEXT.test(word) && word !== "true" && word !== "false");
  return isText ? words : undefined;
}

/**
 * Reads YAML of the simplest form, in which most frontmatter is written, a dozen times faster than a
 * YAML parser. Null if it has anything else, or a key twice.
 */
export function readPlainYaml(yaml: string): [key: string, value: Plain][] | null {
  const entries: [string, Plain][] = [];
  const keys = new Set<string>();
  const lines = yaml.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const match = LINE.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
    const key = match?.[1] ?? "null";
    const value = readValue((match?.[2] ?? "").trim());
    if (value === undefined || NOT_TEXT.test(key) || OTHER_SPACE.test(match?.[2] ?? ""))
      return null;
    keys.add(key);
    entries.push([key, value]);
  }
  return keys.size === lines.length && keys.size <= FRONTMATTER_MAX_ENTRIES ? entries : null;
}

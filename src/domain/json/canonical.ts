import { isWrittenNumber, parseJson } from "./parse.ts";

/** JSON numbers with longer exponents are compared as text. */
const EXPONENT_MAX_CHARS = 15;

/** The same text for 12.50e1, 125 and 1.25E2: digits without outer zeros, and the exponent. */
export function canonicalNumber(source: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) as RegExpExecArray;
  if (exponent.length > EXPONENT_MAX_CHARS) return source;
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  const scale = Number(exponent) + whole.length - end;
  return `${sign}${digits.slice(start, end)}e${scale}`;
}

/**
 * The canonical form of a JSON value from `parseJson`. Two values have the same form exactly when they are equal,
 * regardless of key order and the notation of numbers.
 */
export function canonicalValue(value: unknown): string {
  if (typeof value === "number") return canonicalNumber(String(value));
  if (isWrittenNumber(value)) return canonicalNumber(value.rawJSON);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    // One call for a list of a thousand texts takes a tenth of the time.
    if (value.every((each) => typeof each === "string")) return JSON.stringify(value);
    return `[${value.map(canonicalValue).join(",")}]`;
  }
  const members = value as Record<string, unknown>;
  const entries = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalValue(members[name])}`);
  return `{${entries.join(",")}}`;
}

/**
 * The canonical form of a JSON text, regardless of white space and escapes, too. Numbers are compared by
 * their digits, so those that only differ beyond a double's precision stay different.
 */
export function canonicalJson(text: string): string {
  return canonicalValue(parseJson(text));
}

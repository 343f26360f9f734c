/**
 * A number as its original text, which `JSON.stringify` writes again. Used for numbers that JavaScript would change:
 * 12345678901234567890, 1e400, -0, 1.10.
 */
export interface WrittenNumber {
  readonly rawJSON: string;
}

// TypeScript does not declare these functions yet.
declare global {
  interface JSON {
    rawJSON(text: string): WrittenNumber;
    isRawJSON(value: unknown): value is WrittenNumber;
  }
}

/**
 * The forms of numbers in a JSON text that JavaScript may write differently: 16 digits, an exponent, a
 * negative zero, a fraction that ends with a zero, or a fraction that begins with many. Texts of other forms
 * are parsed four times faster.
 */
const SUSPECT = /[\d.]{16}|\d[eE][-+\d]|-0(?![.\d])|\.\d*0(?!\d)|0\.0{6}/;

/** True if a JSON text may contain a number that `JSON.parse` changes. */
export function mayChange(text: string): boolean {
  return SUSPECT.test(text);
}

/** The number of a JSON token, in its text if JavaScript would write it differently. */
export function numberOf(source: string): number | WrittenNumber {
  const value = Number(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}

/**
 * Parses JSON so that `JSON.stringify` writes each number as it was. A number that JavaScript would change is a
 * WrittenNumber. Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  if (!mayChange(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown, context?: { source: string }) =>
    typeof value === "number" ? numberOf((context as { source: string }).source) : value,
  );
}

/** True for a number that is kept as its text. */
export function isWrittenNumber(value: unknown): value is WrittenNumber {
  return JSON.isRawJSON(value);
}

/** True for every number that JSON can express. */
export function isJsonNumber(value: unknown): value is number | WrittenNumber {
  return typeof value === "number" ? Number.isFinite(value) : isWrittenNumber(value);
}

/** True when arrays and objects are nested on more than this many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => isDeeper(member, levels - 1));
}

import { canonicalNumber } from "./canonical.ts";
import { isWrittenNumber, type WrittenNumber } from "./parse.ts";

/** A number that JavaScript cannot represent exactly, such as 9007199254740993 or 1e400. */
class Decimal {
  readonly #isNegative: boolean;
  /** Without zeros at the ends. */
  readonly #digits: string;
  /** The number is 0.DIGITS times ten to the power of this. */
  readonly #magnitude: number;

  /** @param key the canonical text, which only equal numbers have */
  constructor(readonly key: string) {
    const [, sign, digits = "", exponent] = /^(-?)([^e]*)(?:e(.*))?$/i.exec(key) ?? [];
    this.#isNegative = sign === "-";
    this.#digits = digits;
    this.#magnitude = digits === "0" ? Number.NEGATIVE_INFINITY : digits.length + Number(exponent);
  }

  /** Negative if this is the smaller number, 0 for equal ones. */
  compare(other: Decimal): number {
    if (this.#isNegative !== other.#isNegative) return this.#isNegative ? -1 : 1;
    return this.#isNegative ? other.#compareSize(this) : this.#compareSize(other);
  }

  #compareSize(other: Decimal): number {
    if (this.#magnitude !== other.#magnitude) return this.#magnitude < other.#magnitude ? -1 : 1;
    if (this.#digits === other.#digits) return 0;
    return this.#digits < other.#digits ? -1 : 1;
  }

  /** The text that `JSON.stringify` writes. */
  toJSON(): WrittenNumber {
    return JSON.rawJSON(this.key);
  }
}

/** A number for comparisons, without rounding. */
type ExactNumber = number | Decimal;

/** The number of a JSON token. Equal numbers are equal values, or Decimals with the same key. */
export function exactNumber(value: number | WrittenNumber): ExactNumber {
  if (!isWrittenNumber(value)) return value;
  const rounded = Number(value.rawJSON);
  const key = canonicalNumber(value.rawJSON);
  // Adding 0 makes a negative zero positive.
  if (Number.isFinite(rounded) && canonicalNumber(String(rounded)) === key) return rounded + 0;
  return new Decimal(key);
}

/** Negative if the first number is smaller, 0 for equal ones. */
export function compareNumbers(a: ExactNumber, b: ExactNumber): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return asDecimal(a).compare(asDecimal(b));
}

function asDecimal(value: ExactNumber): Decimal {
  return typeof value === "number" ? new Decimal(canonicalNumber(String(value))) : value;
}

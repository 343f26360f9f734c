import { abbreviate } from "../abbreviate.ts";
import { hasAtMost } from "../formats.ts";
import { isWrittenNumber } from "../json/parse.ts";
import {
  FILTER_CONDITIONS_MAX,
  FILTER_DEPTH_MAX,
  FILTER_IN_MAX_VALUES,
  FILTER_STRING_MAX_CHARS,
} from "../limits.ts";

/** A fault of a filter, with its place: `filter.$and[1].path.$glob`. */
interface FilterFault {
  readonly field: string;
  readonly message: string;
}

const VALUE_OPERATORS: ReadonlySet<string> = new Set(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]);
const LIST_OPERATORS: ReadonlySet<string> = new Set(["$in", "$nin"]);
const TEXT_OPERATORS: ReadonlySet<string> = new Set(["$prefix", "$glob"]);

/** A field that a filter can name: the path, or a key of the frontmatter or the metadata. */
const FIELD = /^(?:path|(?:frontmatter|metadata)(?:\.[^.]+)+)$/s;

/** True for the name of a field that filters can use. */
export const isField = (name: string): boolean => !isTooLong(name) && FIELD.test(name);

export function isObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || isWrittenNumber(value)) return false;
  return !Array.isArray(value);
}

function isTooLong(text: string): boolean {
  return !hasAtMost(FILTER_STRING_MAX_CHARS, text);
}

/** Collects the faults of a filter. */
class Checker {
  readonly faults: FilterFault[] = [];
  #conditions = 0;

  filter(value: unknown, place: string, depth: number): void {
    if (!isObject(value)) {
      this.#fault(place, "must be an object of fields and operators");
      return;
    }
    for (const [key, operand] of Object.entries(value)) {
      const at = `${place}.${abbreviate(key)}`;
      if (key === "$and" || key === "$or") this.#filters(operand, at, depth);
      else if (key === "$not") this.#nested(at, depth, () => this.filter(operand, at, depth + 1));
      else if (isTooLong(key)) this.#fault(at, "is too long");
      else if (FIELD.test(key)) this.#field(operand, at, depth);
      else {
        const known = "path, frontmatter.<key>, metadata.<key>, $and, $or or $not";
        this.#fault(at, `is not a field or an operator: use ${known}`);
      }
    }
  }

  #filters(value: unknown, place: string, depth: number): void {
    if (!Array.isArray(value)) {
      this.#fault(place, "must be an array of filters");
      return;
    }
    this.#nested(place, depth, () => {
      for (const [i, each] of value.entries()) this.filter(each, `${place}[${i}]`, depth + 1);
    });
  }

  /** Checks the operand of an operator, unless it is nested too deeply. */
  #nested(place: string, depth: number, check: () => void): void {
    if (depth < FILTER_DEPTH_MAX) check();
    else this.#fault(place, `must not be nested more than ${FILTER_DEPTH_MAX} deep`);
  }

  /** Checks the operators of a field, or the value that it must equal. */
  #field(value: unknown, place: string, depth: number): void {
    if (!isObject(value)) {
      this.#compare(place, () => this.#value(value, place));
      return;
    }
    const operators = Object.entries(value);
    if (operators.length === 0) this.#fault(place, "must have an operator");
    for (const [operator, operand] of operators) {
      const at = `${place}.${abbreviate(operator)}`;
      if (operator === "$not") {
        this.#nested(at, depth, () => this.#field(operand, at, depth + 1));
      } else this.#compare(at, () => this.#operator(operator, operand, at));
    }
  }

  #operator(operator: string, operand: unknown, place: string): void {
    if (VALUE_OPERATORS.has(operator)) this.#value(operand, place);
    else if (LIST_OPERATORS.has(operator)) this.#values(operand, place);
    else if (TEXT_OPERATORS.has(operator)) {
      if (typeof operand === "string") this.#value(operand, place);
      else this.#fault(place, "must be a string");
    } else if (operator !== "$exists") this.#fault(place, "is not an operator");
    else if (typeof operand !== "boolean") this.#fault(place, "must be true or false");
  }

  #values(value: unknown, place: string): void {
    if (!Array.isArray(value)) {
      this.#fault(place, "must be an array of values");
    } else if (value.length > FILTER_IN_MAX_VALUES) {
      this.#fault(place, `must have at most ${FILTER_IN_MAX_VALUES} values`);
    } else for (const [i, each] of value.entries()) this.#value(each, `${place}[${i}]`);
  }

  #value(value: unknown, place: string): void {
    if (typeof value === "boolean") return;
    if (typeof value === "number") {
      if (!Number.isFinite(value)) this.#fault(place, "must be a finite number");
    } else if (isWrittenNumber(value)) {
      if (isTooLong(value.rawJSON)) {
        this.#fault(place, `must have at most ${FILTER_STRING_MAX_CHARS} characters`);
      }
    } else if (typeof value !== "string") {
      this.#fault(place, "must be a string, a number or a boolean");
    } else if (isTooLong(value)) {
      this.#fault(place, `must have at most ${FILTER_STRING_MAX_CHARS} characters`);
    }
  }

  /** Counts a comparison and checks it. All comparisons beyond the limit share one fault. */
  #compare(place: string, check: () => void): void {
    this.#conditions++;
    if (this.#conditions <= FILTER_CONDITIONS_MAX) check();
    else if (this.#conditions === FILTER_CONDITIONS_MAX + 1) {
      this.#fault(
        place,
        `must be among the first ${FILTER_CONDITIONS_MAX} comparisons of a filter`,
      );
    }
  }

  #fault(field: string, message: string): void {
    this.faults.push({ field, message });
  }
}

/** The faults of a filter; empty for a valid one. */
export function checkFilter(value: unknown): FilterFault[] {
  const checker = new Checker();
  checker.filter(value, "filter", 0);
  return checker.faults;
}

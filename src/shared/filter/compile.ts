import { compareNumbers, Decimal, type ExactNumber, exactNumber } from "../json/decimal.ts";
import { isJsonNumber } from "../json/parse.ts";
import { isObject } from "./check.ts";
import { compileGlob } from "./glob.ts";
import type { Steps } from "./steps.ts";

/** The fields of a chunk, or of a file without chunks, that a filter sees. */
interface Fields {
  readonly path: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A value that can be compared. Equal numbers are equal values, or Decimals with the same key. */
export type Scalar = string | ExactNumber | boolean;
/** Tests one value, or each element of an array. A long text may take several steps. */
type Passes = (value: Scalar) => boolean | Steps<boolean>;

/** The condition on a field. */
export interface Comparison {
  readonly kind: "some";
  /** `path`, `frontmatter` or `metadata`. */
  readonly root: string;
  /** The dotted path into the object of the root; empty for `path`. */
  readonly path: string;
  /** True for a value that passes. Undefined if the field only has to exist. */
  readonly passes?: Passes;
  /** The only values that pass, if they are known. */
  readonly equals?: readonly Scalar[];
  /** The time of `passes`, as a multiple of a simple comparison. */
  readonly cost: number;
}

/** A filter as a tree: all or any of its parts, the negation of one, or a condition on a field. */
export type Condition =
  | { readonly kind: "all" | "any"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly part: Condition }
  | Comparison;

export interface CompiledFilter {
  readonly condition: Condition;
  /** False when the chunks of a file version either all match or all do not. */
  readonly usesMetadata: boolean;
  matches(fields: Fields): Steps<boolean>;
}

/** The value for comparisons; undefined if it is not a string, a number or a boolean. */
export function scalarOf(value: unknown): Scalar | undefined {
  if (typeof value === "string" || typeof value === "boolean") return value;
  return isJsonNumber(value) ? exactNumber(value) : undefined;
}

/** True for the same string, the same boolean, or equal numbers. */
export function isSameScalar(a: Scalar | undefined, b: Scalar | undefined): boolean {
  return a === b || (a instanceof Decimal && b instanceof Decimal && a.key === b.key);
}

/** Negative if the first value is smaller, 0 for equal ones; undefined for values of different types. */
export function compareScalars(a: Scalar, b: Scalar): number | undefined {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a !== typeof b) return undefined;
  return a === b ? 0 : a < b ? -1 : 1;
}

const isNumber = (value: Scalar): value is ExactNumber =>
  typeof value === "number" || value instanceof Decimal;

/** The value of a field; undefined if it is missing. A null counts as missing. */
function fieldValue({ root, path }: Comparison, fields: Fields): unknown {
  if (root === "path") return fields.path;
  let value: unknown = fields[root as keyof Fields];
  for (const name of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value ?? undefined;
}

/** Values that are tested between two yields. */
const STEP_VALUES = 16;

/** True if one of these values passes. */
export function* somePasses(passes: Passes, values: readonly unknown[]): Steps<boolean> {
  for (let i = 0; i < values.length; i++) {
    if (i % STEP_VALUES === STEP_VALUES - 1) yield;
    const value = scalarOf(values[i]);
    if (value === undefined) continue;
    const outcome = passes(value);
    if (typeof outcome === "boolean" ? outcome : yield* outcome) return true;
  }
  return false;
}

/** True if a field passes: its value, or an element of its array. */
function* isMet(comparison: Comparison, fields: Fields): Steps<boolean> {
  yield;
  const value = fieldValue(comparison, fields);
  const { passes } = comparison;
  if (passes === undefined) return value !== undefined;
  return yield* somePasses(passes, [value].flat());
}

function* holds(condition: Condition, fields: Fields): Steps<boolean> {
  switch (condition.kind) {
    case "all":
    case "any": {
      const decides = condition.kind === "any";
      for (const part of condition.parts) {
        if ((yield* holds(part, fields)) === decides) return decides;
      }
      return !decides;
    }
    case "not":
      return !(yield* holds(condition.part, fields));
    case "some":
      return yield* isMet(condition, fields);
  }
}

/*
 * A filter may have any number of empty filters, which do not count as comparisons. They are evaluated here, so that
 * the number of tests per chunk is at most the number of the filter's comparisons.
 */
const ALWAYS: Condition = { kind: "all", parts: [] };
const NEVER: Condition = { kind: "any", parts: [] };

function all(parts: readonly Condition[]): Condition {
  const open = parts.filter((part) => part !== ALWAYS);
  if (open.length === 0 || open.includes(NEVER)) return open.length === 0 ? ALWAYS : NEVER;
  return open.length === 1 ? (open[0] as Condition) : { kind: "all", parts: open };
}

function any(parts: readonly Condition[]): Condition {
  const open = parts.filter((part) => part !== NEVER);
  if (open.length === 0 || open.includes(ALWAYS)) return open.length === 0 ? NEVER : ALWAYS;
  return open.length === 1 ? (open[0] as Condition) : { kind: "any", parts: open };
}

function not(part: Condition): Condition {
  if (part === ALWAYS || part === NEVER) return part === ALWAYS ? NEVER : ALWAYS;
  return { kind: "not", part };
}

/** The cost of a pattern, which is compared character by character. */
const GLOB_COST = 64;

type Field = Pick<Comparison, "root" | "path">;

const some = (field: Field, passes: Passes, more: Partial<Comparison> = {}): Comparison => ({
  ...{ kind: "some", ...field, passes, cost: 1 },
  ...more,
});

const isIn = (field: Field, values: readonly unknown[]): Comparison => {
  const equals = values.flatMap((value) => scalarOf(value) ?? []);
  const simple = new Set(equals.filter((value) => !(value instanceof Decimal)));
  const decimals = new Set(equals.flatMap((value) => (value instanceof Decimal ? value.key : [])));
  const passes = (value: Scalar) =>
    value instanceof Decimal ? decimals.has(value.key) : simple.has(value);
  return some(field, passes, { equals });
};

/** Compares values of the type of the operand. */
function ordered(field: Field, operand: unknown, passes: (order: number) => boolean): Comparison {
  const other = scalarOf(operand) as Scalar;
  return some(field, (value) => {
    const order = compareScalars(value, other);
    return order !== undefined && passes(order);
  });
}

type TextPasses = (text: string) => ReturnType<Passes>;

const onText = (field: Field, passes: TextPasses, cost = 1): Comparison =>
  some(field, (value) => typeof value === "string" && passes(value), { cost });

/* The operators of order compare values of one type only. */
const OPERATORS: Readonly<Record<string, (field: Field, operand: never) => Condition>> = {
  $eq: (field, operand: unknown) => isIn(field, [operand]),
  $ne: (field, operand: unknown) => not(isIn(field, [operand])),
  $in: isIn,
  $nin: (field, operand: readonly unknown[]) => not(isIn(field, operand)),
  $gt: (field, operand: unknown) => ordered(field, operand, (order) => order > 0),
  $gte: (field, operand: unknown) => ordered(field, operand, (order) => order >= 0),
  $lt: (field, operand: unknown) => ordered(field, operand, (order) => order < 0),
  $lte: (field, operand: unknown) => ordered(field, operand, (order) => order <= 0),
  $exists: (field, operand: boolean) => {
    const exists: Comparison = { kind: "some", ...field, cost: 1 };
    return operand ? exists : not(exists);
  },
  $prefix: (field, operand: string) => onText(field, (text) => text.startsWith(operand)),
  $glob: (field, operand: string) => onText(field, compileGlob(operand), GLOB_COST),
  $not: (field, operand: unknown) => not(conditionOf(field, operand)),
};

/** All operators of a field. In an array, different elements may pass different operators. */
function conditionOf(field: Field, operand: unknown): Condition {
  const operators = isObject(operand) ? operand : { $eq: operand };
  return all(
    Object.entries(operators).map(([name, value]) =>
      (OPERATORS[name] as (field: Field, operand: unknown) => Condition)(field, value),
    ),
  );
}

function fieldOf(key: string): Field {
  const dot = key.indexOf(".");
  return dot < 0 ? { root: key, path: "" } : { root: key.slice(0, dot), path: key.slice(dot + 1) };
}

function compiled(filter: Record<string, unknown>): Condition {
  const parts = Object.entries(filter).map(([key, operand]): Condition => {
    if (key === "$not") return not(compiled(operand as Record<string, unknown>));
    if (key === "$and") return all((operand as Record<string, unknown>[]).map(compiled));
    if (key === "$or") return any((operand as Record<string, unknown>[]).map(compiled));
    return conditionOf(fieldOf(key), operand);
  });
  return all(parts);
}

/** True if a condition names a field of this kind. */
function uses(condition: Condition, root: string): boolean {
  if (condition.kind === "some") return condition.root === root;
  const parts = condition.kind === "not" ? [condition.part] : condition.parts;
  return parts.some((part) => uses(part, root));
}

/** Prepares a filter in which `checkFilter` has found no fault. */
export function compileFilter(filter: Record<string, unknown>): CompiledFilter {
  const condition = compiled(filter);
  return {
    condition,
    usesMetadata: uses(condition, "metadata"),
    matches: (fields) => holds(condition, fields),
  };
}

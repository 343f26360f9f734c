import { isObject } from "./check.ts";
import { compileGlob } from "./glob.ts";

/** What a filter sees of a chunk, or of a file without chunks. */
interface Fields {
  readonly path: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

type Matches = (fields: Fields) => boolean;
type Test = (value: unknown) => boolean;

export interface CompiledFilter {
  /** False when all chunks of a file version match, or none. */
  readonly usesMetadata: boolean;
  readonly usesFrontmatter: boolean;
  readonly matches: Matches;
}

/** The value of a field; undefined if it is missing. A null counts as missing. */
function reader(key: string): (fields: Fields) => unknown {
  if (key === "path") return ({ path }) => path;
  const [root, ...names] = key.split(".") as ["frontmatter" | "metadata", ...string[]];
  return (fields) => {
    let value: unknown = fields[root];
    for (const name of names) {
      if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return value ?? undefined;
  };
}

/** True for a value that passes, or an array with an element that does. */
const some = (passes: Test): Test => {
  return (value) => (Array.isArray(value) ? value.some(passes) : passes(value));
};

const not = (passes: Test): Test => {
  return (value) => !passes(value);
};

type Scalar = string | number | boolean;

/** Compares values of one type only. */
function ordered(operand: Scalar, compare: (value: Scalar) => boolean): Test {
  return some((value) => typeof value === typeof operand && compare(value as Scalar));
}

const isIn = (values: readonly unknown[]): Test => {
  const set = new Set(values);
  return some((value) => set.has(value));
};

const onText = (passes: (text: string) => boolean): Test => {
  return some((value) => typeof value === "string" && passes(value));
};

const OPERATORS: Readonly<Record<string, (operand: never) => Test>> = {
  $eq: (operand: Scalar) => some((value) => value === operand),
  $ne: (operand: Scalar) => not(some((value) => value === operand)),
  $in: isIn,
  $nin: (operand: readonly unknown[]) => not(isIn(operand)),
  $gt: (operand: Scalar) => ordered(operand, (value) => value > operand),
  $gte: (operand: Scalar) => ordered(operand, (value) => value >= operand),
  $lt: (operand: Scalar) => ordered(operand, (value) => value < operand),
  $lte: (operand: Scalar) => ordered(operand, (value) => value <= operand),
  $exists: (operand: boolean) => (value) => (value !== undefined) === operand,
  $prefix: (operand: string) => onText((text) => text.startsWith(operand)),
  $glob: (operand: string) => onText(compileGlob(operand)),
  $not: (operand: unknown) => not(testOf(operand)),
};

/** All operators of a field; each finds an element of its own. */
function testOf(operand: unknown): Test {
  const operators = isObject(operand) ? operand : { $eq: operand };
  const tests = Object.entries(operators).map(([name, value]) =>
    (OPERATORS[name] as (operand: unknown) => Test)(value),
  );
  return (value) => tests.every((test) => test(value));
}

const ALWAYS: Matches = () => true;
const NEVER: Matches = () => false;

/*
 * A filter may have any number of empty filters, which are no comparisons. What they decide is decided
 * here, so that a chunk is compared at most as often as a filter has comparisons.
 */

function all(parts: readonly Matches[]): Matches {
  const open = parts.filter((part) => part !== ALWAYS);
  if (open.length === 0 || open.includes(NEVER)) return open.length === 0 ? ALWAYS : NEVER;
  return (fields) => open.every((matches) => matches(fields));
}

function any(parts: readonly Matches[]): Matches {
  const open = parts.filter((part) => part !== NEVER);
  if (open.length === 0 || open.includes(ALWAYS)) return open.length === 0 ? NEVER : ALWAYS;
  return (fields) => open.some((matches) => matches(fields));
}

function none(part: Matches): Matches {
  if (part === ALWAYS || part === NEVER) return part === ALWAYS ? NEVER : ALWAYS;
  return (fields) => !part(fields);
}

function matcherOf(filter: Record<string, unknown>): Matches {
  const parts = Object.entries(filter).map(([key, operand]): Matches => {
    if (key === "$not") return none(matcherOf(operand as Record<string, unknown>));
    if (key === "$and") return all((operand as Record<string, unknown>[]).map(matcherOf));
    if (key === "$or") return any((operand as Record<string, unknown>[]).map(matcherOf));
    const [read, test] = [reader(key), testOf(operand)];
    return (fields) => test(read(fields));
  });
  return all(parts);
}

/** True if the filter names a field of this kind. */
function uses(filter: Record<string, unknown>, root: string): boolean {
  return Object.entries(filter).some(([key, operand]) => {
    if (key === "$not") return uses(operand as Record<string, unknown>, root);
    if (key !== "$and" && key !== "$or") return key.startsWith(root);
    return (operand as Record<string, unknown>[]).some((each) => uses(each, root));
  });
}

/** Prepares a filter in which `checkFilter` has found no fault. */
export function compileFilter(filter: Record<string, unknown>): CompiledFilter {
  return {
    usesMetadata: uses(filter, "metadata."),
    usesFrontmatter: uses(filter, "frontmatter."),
    matches: matcherOf(filter),
  };
}

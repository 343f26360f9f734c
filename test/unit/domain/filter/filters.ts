import fc from "fast-check";
import { canonicalValue } from "../../../../src/domain/json/canonical.ts";
import type { Steps } from "../../../../src/domain/steps.ts";
import { FieldProject } from "../../../../src/index/fields/field-project.ts";
import { allMatches } from "../../../../src/index/fields/filter-results.ts";

type Json = Record<string, unknown>;

/** A deliberately plain evaluator: it interprets the filter for each document. */
const plain = {
  glob(pattern: string, text: string): boolean {
    const source = pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/(?<=^|\/)\*\*\//g, "\u0001")
      .replace(/\*\*+/g, "\u0002")
      .replace(/\*/g, "[^/]*")
      .replace(/\?/g, "[^/]")
      .replaceAll("\u0001", "(?:.*/)?")
      .replaceAll("\u0002", ".*");
    return new RegExp(`^${source}$`, "su").test(text);
  },
  one(operator: string, value: unknown, operand: never): boolean {
    const same = typeof value === typeof operand;
    const list = operand as unknown[];
    if (operator === "$eq") return value === operand;
    if (operator === "$in") return list.includes(value);
    if (operator === "$gt") return same && (value as number) > operand;
    if (operator === "$gte") return same && (value as number) >= operand;
    if (operator === "$lt") return same && (value as number) < operand;
    if (operator === "$lte") return same && (value as number) <= operand;
    if (operator === "$prefix") return same && (value as string).startsWith(operand);
    return same && plain.glob(operand, value as string);
  },
  operator(operator: string, value: unknown, operand: unknown): boolean {
    if (operator === "$not") return !plain.field(value, operand);
    if (operator === "$ne") return !plain.operator("$eq", value, operand);
    if (operator === "$nin") return !plain.operator("$in", value, operand);
    if (operator === "$exists") return (value !== undefined) === operand;
    const values = value === undefined ? [] : [value].flat();
    return values.some((each) => plain.one(operator, each, operand as never));
  },
  field(value: unknown, operand: unknown): boolean {
    if (typeof operand !== "object" || operand === null)
      return plain.operator("$eq", value, operand);
    return Object.entries(operand).every(([name, each]) => plain.operator(name, value, each));
  },
  matches(filter: Json, document: Json): boolean {
    return Object.entries(filter).every(([key, operand]) => {
      const list = operand as Json[];
      if (key === "$and") return list.every((each) => plain.matches(each, document));
      if (key === "$or") return list.some((each) => plain.matches(each, document));
      if (key === "$not") return !plain.matches(operand as Json, document);
      const read = (at: unknown, name: string) => (at as Json | undefined)?.[name];
      return plain.field(key.split(".").reduce<unknown>(read, document), operand);
    });
  },
};

const scalar = fc.oneof(
  fc.constantFrom("a", "b", "a/b", "a/b/c", "", "1", "2026-01-05", "😀"),
  fc.integer({ min: -1, max: 3 }),
  fc.boolean(),
);
const glob = fc
  .array(fc.constantFrom("a", "b", "c", "/", "*", "**", "**/", "?"), { maxLength: 5 })
  .map((parts) => parts.join(""));
const { operators } = fc.letrec<{ operators: Json }>((tie) => ({
  operators: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ $eq: scalar }),
    fc.record({ $ne: scalar }),
    fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
    fc.record({ $nin: fc.array(scalar, { maxLength: 3 }) }),
    fc.record({ $gt: scalar, $lte: scalar }),
    fc.record({ $gte: scalar, $lt: scalar }),
    fc.record({ $exists: fc.boolean() }),
    fc.record({ $prefix: fc.constantFrom("a", "", "a/") }),
    fc.record({ $glob: glob }),
    fc.record({ $not: fc.oneof(scalar, tie("operators")) }),
  ),
}));
const key = fc.constantFrom("path", "frontmatter.a", "frontmatter.b.a", "metadata.a");
/** Random filters without a fault, but for the depth of some. */
export const filters = fc.letrec<{ filter: Json }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.dictionary(key, fc.oneof(scalar, operators), { maxKeys: 3 }),
    fc.record({ $and: fc.array(tie("filter"), { maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie("filter"), { maxLength: 3 }) }),
    fc.record({ $not: tie("filter") }),
  ),
})).filter;
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ a: scalar }));
/** Random frontmatter or metadata. */
export const values = fc.dictionary(fc.constantFrom("a", "b"), value, { maxKeys: 2 });

/** Whether a document `{path, frontmatter, metadata}` matches, by the plain evaluator. */
export const matchesPlainly = (filter: Json, document: Json): boolean =>
  plain.matches(filter, document);

/** The result of work in steps, and how many it took. */
export function finished<T>(work: Steps<T>): { readonly result: T; readonly steps: number } {
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return { result: value, steps };
  }
}

/** A file with one chunk, as a filter sees it. */
interface Fields {
  readonly path: string;
  readonly frontmatter: Json;
  readonly metadata: Json;
}

/** Whether a file with one chunk matches a filter without a fault, and in how many steps that is found. */
export function evaluated(filter: unknown, { path, frontmatter, metadata }: Fields) {
  const project = new FieldProject();
  project.add({ id: "v", path, frontmatter, dimensions: [0], metadata: [metadata] });
  const { result, steps } = finished(allMatches(project, canonicalValue(filter)));
  return { result: result.numbers.length === 1, steps };
}

/** Patterns that keep about five hundred states alive in a text of `a`, which none of them matches. */
export const hostileGlobs = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ $glob: `${"*a".repeat(500)}${i}b` }));

/** Steps that comparing a text with such patterns takes at least, each of some tens of microseconds. */
export const hostileSteps = (globs: number, text: string) =>
  Math.floor((globs * text.length * 16) / 65_536);

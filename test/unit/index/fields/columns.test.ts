import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkFilter } from "../../../../src/domain/filter/check.ts";
import { canonicalValue } from "../../../../src/domain/json/canonical.ts";
import { FieldProject } from "../../../../src/index/fields/field-project.ts";
import { summariseFields } from "../../../../src/index/fields/field-summary.ts";
import { FilterResults } from "../../../../src/index/fields/filter-results.ts";
import {
  addDocument,
  emptyDocumentSet,
  hasDocument,
} from "../../../../src/index/segments/index.ts";
import {
  filters,
  finished,
  hostileGlobs,
  hostileSteps,
  matchesPlainly,
  values,
} from "../../domain/filter/filters.ts";

type Json = Record<string, unknown>;

interface TestVersion {
  readonly path: string;
  readonly frontmatter: Json;
  readonly metadata: readonly Json[];
}

function add(project: FieldProject, versions: readonly TestVersion[]): void {
  for (const { path, frontmatter, metadata } of versions) {
    const dimensions = metadata.map(() => 768);
    project.add({ id: `v${project.table.count}`, path, frontmatter, dimensions, metadata });
  }
}

const setOf = (numbers: readonly number[], count: number) => {
  const set = emptyDocumentSet(count);
  for (const number of numbers) addDocument(set, number);
  return set;
};

/** What the columns say: for each matching version the chunks that match. */
function found(results: FilterResults, project: FieldProject, scope: Uint32Array): Json {
  for (const _ of results.evaluate(scope));
  const members = results.membersIn(scope);
  if (members === undefined) throw new Error("versions of the scope were not evaluated");
  const entries = [...members.numbers].map((number) => {
    const [first = 0, end = 0] = project.table.firstChunks.subarray(number, number + 2);
    const chunks = Array.from({ length: end - first }, (_, i) => i);
    const isMember = (i: number) =>
      members.chunks === null || hasDocument(members.chunks, first + i);
    return [number, chunks.filter(isMember)];
  });
  return Object.fromEntries(entries);
}

/** The same by the plain evaluator. A version without chunks counts as one. */
function plainly(filter: Json, versions: readonly TestVersion[], numbers: readonly number[]): Json {
  const entries = numbers.flatMap((number) => {
    const { path, frontmatter, metadata } = versions[number] as TestVersion;
    const chunks = (metadata.length === 0 ? [{}] : metadata).flatMap((each, i) =>
      matchesPlainly(filter, { path, frontmatter, metadata: each }) ? [i] : [],
    );
    return chunks.length === 0 ? [] : [[number, chunks] as const];
  });
  return Object.fromEntries(entries);
}

const expectSame = (filter: Json, versions: readonly TestVersion[]) => {
  const project = new FieldProject();
  add(project, versions);
  const numbers = versions.map((_, i) => i);
  const results = new FilterResults(project, canonicalValue(filter));
  expect(found(results, project, setOf(numbers, project.table.count))).toEqual(
    plainly(filter, versions, numbers),
  );
};

const version = fc.record({
  path: fc.constantFrom("a", "b", "a/b", "a/b/c", "c/a", "😀"),
  frontmatter: values,
  metadata: fc.array(values, { maxLength: 3 }),
});

test("columns agree with a plain evaluator on random versions, filters and scopes that grow", () => {
  fc.assert(
    fc.property(
      filters.filter((filter) => checkFilter(filter).length === 0),
      fc.array(version, { minLength: 1, maxLength: 12 }),
      fc.array(fc.tuple(version, fc.boolean()), { maxLength: 6 }),
      (filter, before, after) => {
        const project = new FieldProject();
        const results = new FilterResults(project, canonicalValue(filter));
        add(project, before);
        const some = before.flatMap((_, i) => (i % 3 === 0 ? [] : [i]));
        const expectFound = (versions: readonly TestVersion[], numbers: readonly number[]) =>
          expect(found(results, project, setOf(numbers, project.table.count))).toEqual(
            plainly(filter, versions, numbers),
          );
        expectFound(before, some);
        const all = [...before, ...after.map(([each]) => each)];
        add(project, all.slice(before.length));
        expectFound(
          all,
          all.flatMap((_, i) => (after[i - before.length]?.[1] === false ? [] : [i])),
        );
      },
    ),
    { numRuns: 1_000 },
  );
});

/** For each field the files of its values, as JSON texts, found by visiting every document. */
function countPlainly(versions: readonly TestVersion[], numbers: readonly number[]): Json {
  const found: Record<string, Record<string, number>> = {};
  for (const number of numbers) {
    const { path, frontmatter, metadata } = versions[number] as TestVersion;
    const own = new Set<string>([JSON.stringify(["path", path])]);
    const visit = (name: string, value: unknown): void => {
      if (Array.isArray(value)) for (const each of value) visit(name, each);
      else if (typeof value !== "object") own.add(JSON.stringify([name, value]));
      else for (const [key, each] of Object.entries(value ?? {})) visit(`${name}.${key}`, each);
    };
    visit("frontmatter", frontmatter);
    for (const each of metadata) visit("metadata", each);
    for (const [name, value] of [...own].map((each) => JSON.parse(each))) {
      found[name] ??= {};
      const values = found[name];
      const key = JSON.stringify(value);
      values[key] = (values[key] ?? 0) + 1;
    }
  }
  return found;
}

test("a summary counts the files of every value in the scope, as visiting every document does", () => {
  fc.assert(
    fc.property(fc.array(version, { minLength: 1, maxLength: 12 }), (versions) => {
      const project = new FieldProject();
      add(project, versions);
      const numbers = versions.flatMap((_, i) => (i % 3 === 1 ? [] : [i]));
      const { result: summary } = finished(
        summariseFields(project, setOf(numbers, project.table.count)),
      );
      const counted = summary.map(({ name, values: each }) => [
        name,
        Object.fromEntries(each.map(({ value, count }) => [JSON.stringify(value), count])),
      ]);
      expect(Object.fromEntries(counted)).toEqual(countPlainly(versions, numbers));
      for (const { files, distinct, values: each, types } of summary) {
        expect(distinct).toBe(each.length);
        expect(new Set<string>(each.map(({ value }) => typeof value))).toEqual(new Set(types));
        const counts = each.map(({ count }) => count);
        expect(counts).toEqual([...counts].sort((a, b) => b - a));
        expect(files).toBeWithin(Math.max(...counts), numbers.length + 1);
      }
    }),
    { numRuns: 500 },
  );
});

test("a summary has the 200 most frequent fields and their 20 most frequent values", () => {
  const project = new FieldProject();
  const rare = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`rare${i}`, i]));
  const versions = Array.from({ length: 100 }, (_, i) =>
    fileOf({ often: i % 30, always: "yes", ...(i === 0 ? rare : {}) }),
  );
  add(project, versions);
  const all = versions.map((_, i) => i);
  const { result: summary } = finished(summariseFields(project, setOf(all, project.table.count)));
  expect(summary).toHaveLength(200);
  const [path, always, often] = summary;
  expect(path).toMatchObject({ name: "path", files: 100, distinct: 1 });
  expect(always).toMatchObject({
    name: "frontmatter.always",
    values: [{ value: "yes", count: 100 }],
  });
  expect(often).toMatchObject({ name: "frontmatter.often", files: 100, distinct: 30 });
  const expected = Array.from({ length: 20 }, (_, i) => ({ value: i, count: i < 10 ? 4 : 3 }));
  expect(often?.values).toEqual(expected);
});

const fileOf = (frontmatter: Json, metadata: readonly Json[] = []): TestVersion => ({
  path: "a.md",
  frontmatter,
  metadata,
});

test("files with more fields and values than columns take are filtered like others", () => {
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${i}`, i]));
  const list = { list: Array.from({ length: 1_000 }, (_, i) => `e${i}`), k2: [] };
  const versions = [fileOf(many), fileOf(list), fileOf({ k2999: 1, k1: 1 }), fileOf({})];
  for (const filter of [
    { "frontmatter.k1": 1 },
    { "frontmatter.k2999": { $gt: 0 } },
    { "frontmatter.k2999": { $exists: false } },
    { "frontmatter.k2": { $exists: true } },
    { "frontmatter.list": "e0" },
    { "frontmatter.list": "e999" },
    { "frontmatter.list": { $not: { $prefix: "e99" } } },
    { "frontmatter.missing": { $ne: 1 } },
  ]) {
    expectSame(filter, versions);
  }
});

test("hostile patterns and a long value yield to others after every short step, wherever the value is kept", () => {
  const text = "a".repeat(100_000);
  const globs = hostileGlobs(8);
  const others = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, 1]));
  for (const frontmatter of [{ x: text }, { ...others, x: text }]) {
    const project = new FieldProject();
    add(project, [fileOf(frontmatter)]);
    const filter = { $or: globs.map((glob) => ({ "frontmatter.x": glob })) };
    const results = new FilterResults(project, canonicalValue(filter));
    const { steps } = finished(results.evaluate(setOf([0], 1)));
    expect(steps).toBeGreaterThan(hostileSteps(8, text));
    expect(results.membersIn(setOf([0], 1))?.numbers).toHaveLength(0);
  }
});

test("values that are kept together yield to others after each row", () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i]));
  const project = new FieldProject();
  add(
    project,
    Array.from({ length: 500 }, () => fileOf(many)),
  );
  const results = new FilterResults(project, canonicalValue({ "frontmatter.k299": 299 }));
  const all = setOf([...Array(500).keys()], 500);
  expect(finished(results.evaluate(all)).steps).toBeGreaterThan(500);
  expect(results.membersIn(all)?.numbers).toHaveLength(500);
});

test("an evaluation that has ended early is continued by the next one, with the same result", () => {
  const versions = Array.from({ length: 20_000 }, (_, i) => fileOf({ n: `${i}` }));
  const project = new FieldProject();
  add(project, versions);
  const filter = canonicalValue({ "frontmatter.n": { $glob: "*7*" } });
  const all = setOf([...versions.keys()], versions.length);
  const whole = new FilterResults(project, filter);
  const { steps } = finished(whole.evaluate(all));
  const results = new FilterResults(project, filter);
  const early = results.evaluate(all);
  for (let i = 0; i < steps / 2; i++) early.next();
  expect(results.membersIn(all)).toBeUndefined();
  expect(finished(results.evaluate(all)).steps).toBeLessThan(steps);
  const numbers = whole.membersIn(all)?.numbers as Uint32Array;
  expect(numbers.length).toBeGreaterThan(100);
  expect(results.membersIn(all)?.numbers).toEqual(numbers);
});

test("a filter of metadata finds single chunks of versions in several blocks", () => {
  const versions = Array.from({ length: 5_000 }, (_, i) =>
    fileOf(
      { n: i },
      Array.from({ length: i % 4 }, (__, part) => ({ part, odd: i % 2 === 1 })),
    ),
  );
  expectSame({ "metadata.part": 1, "frontmatter.n": { $gte: 4_000 } }, versions);
  expectSame(
    { "metadata.odd": { $ne: true }, $not: { "metadata.part": { $in: [0, 2] } } },
    versions,
  );
});

test("fields that are never repeated take memory in proportion to their text", () => {
  const project = new FieldProject();
  const fields = (from: number) =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key-${from + i}`, i]));
  let chars = 0;
  for (let file = 0; file < 200; file++) {
    const frontmatter = fields(file * 1_000);
    chars += JSON.stringify(frontmatter).length;
    add(project, [fileOf(frontmatter)]);
  }
  expect(project.bytes).toBeLessThan(2 * chars + 2_000_000);
});

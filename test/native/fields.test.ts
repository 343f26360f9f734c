import { expect, test } from "bun:test";
import * as native from "../../native/fields.ts";

const [PATH, FRONTMATTER, METADATA] = native.FIELD_ROOTS.keys();
const EVEN = 0x5555_5555;

/** Versions with two chunks each: number 3 has the path `3`, the frontmatter `n: 3`, and chunks with `c: 6` and `c: 7`. */
function filled(count: number): native.FieldStore {
  const fields = native.openFields();
  for (let i = 0; i < count; i++) {
    const metadata = JSON.stringify([{ c: 2 * i }, { c: 2 * i + 1 }]);
    native.addFields(
      fields,
      `v${i}`,
      `${i}`,
      JSON.stringify({ n: i, tags: [i % 2, i % 2, "x"] }),
      metadata,
      2,
    );
  }
  return fields;
}

const allOf = (count: number) => new Uint32Array((count + 31) >>> 5).fill(0xffff_ffff);

function found(fields: native.FieldStore, filter: unknown, count: number) {
  const results = native.openFilter(fields, JSON.stringify(filter));
  native.beginFilter(results, allOf(count));
  while (!native.stepFilter(results));
  const members = native.filterMembers(results, allOf(count));
  const { numbers, chunks } = members ?? { numbers: [], chunks: null };
  const isSet = (i: number) => (((chunks?.[i >>> 5] ?? 0) >>> (i & 31)) & 1) === 1;
  return { numbers: [...numbers], chunks: [...Array(2 * count).keys()].filter(isSet) };
}

function counted(fields: native.FieldStore, root: number, path: string, versions: Uint32Array) {
  const count = native.openCount(fields, root, path, versions, 3, 100);
  while (!native.stepCount(count));
  return native.countedValues(count);
}

test("kept versions have their values under other numbers", () => {
  const kept = native.keepVersions(filled(10), Uint32Array.of(EVEN));
  expect(found(kept, { "frontmatter.n": { $gte: 4 } }, 5).numbers).toEqual([2, 3, 4]);
  expect(found(kept, { path: "6" }, 5).numbers).toEqual([3]);
  expect(found(kept, { "metadata.c": 13 }, 5)).toEqual({ numbers: [3], chunks: [7] });
  expect(counted(kept, PATH as number, "", allOf(5)).distinct).toBe(5);
  native.addFields(kept, "v10", "new", "{}", "[]", 1);
  expect(found(kept, { path: { $in: ["new", "8", "9"] } }, 6).numbers).toEqual([4, 5]);
});

test("counts are of files, and those of a field that no version has are empty", () => {
  const fields = filled(4);
  const all = counted(fields, FRONTMATTER as number, "tags", Uint32Array.of(0b0111));
  expect(JSON.parse(all.values)).toEqual([
    { value: "x", count: 3 },
    { value: 0, count: 2 },
    { value: 1, count: 1 },
  ]);
  expect(all).toMatchObject({ files: 3, distinct: 3, types: ["string", "number"] });
  const none = counted(fields, METADATA as number, "missing", allOf(4));
  expect(none).toMatchObject({ files: 0, distinct: 0, types: [], values: "[]" });
});

test("entries that cannot follow are refused, so that no later call reads beyond the versions", () => {
  const restored = (rows: number[], codes: number[], values = `["a",1]`, root = FRONTMATTER) => {
    const fields = native.openFields();
    for (let i = 0; i < 3; i++) native.appendVersion(fields, `v${i}`, 2);
    const [from, by] = [Uint32Array.from(rows), Uint32Array.from(codes)];
    native.restoreEntries(fields, root as number, "n", values, from, by);
    return found(fields, { "frontmatter.n": "a" }, 3).numbers;
  };
  expect(restored([0, 2, 2], [1, 0, 1])).toEqual([0, 2]);
  expect(restored([5], [1], `["a"]`, METADATA)).toEqual([]);
  expect(() => restored([3], [1])).toThrow("cannot follow");
  expect(() => restored([6], [1], `["a"]`, METADATA)).toThrow("cannot follow");
  expect(() => restored([1, 0], [1, 1])).toThrow("cannot follow");
  expect(() => restored([0], [3])).toThrow("cannot follow");
  expect(() => restored([0, 1], [1])).toThrow("lack codes");
  expect(() => restored([0], [1], `[null]`)).toThrow("not valid");
});

test("texts that are not JSON, and filters that are none, are refused", () => {
  const fields = filled(1);
  const faulty = ["", "{", "[}", `{"a"}`, `{"a":1`, `{"a":"`, `{"a":"\\u00g0"}`, `{"a":1}}`, "{}x"];
  for (const json of faulty) {
    expect(() => native.addFields(native.openFields(), "v", "a", json, "[]", 1), json).toThrow(
      "JSON",
    );
    expect(() => native.openFilter(fields, json), json).toThrow();
  }
  for (const number of ["-", "1.", ".5", "1e", "1e+", "1e5e9999", "1-2", "+1"]) {
    const json = `{"path":${number}}`;
    expect(() => native.openFilter(fields, json), json).toThrow();
  }
  expect(() => native.addFields(native.openFields(), "v", "a", "{}", "[{},{}]", 1)).toThrow(
    "metadata",
  );
  const deep = `${`{"$not":`.repeat(1_000)}{}${"}".repeat(1_000)}`;
  for (const filter of [deep, `{"title":1}`, `{"path":{"$like":1}}`, `{"path":null}`]) {
    expect(() => native.openFilter(fields, filter)).toThrow("filter");
  }
});

test("arguments of a wrong kind are refused before any memory is touched", () => {
  const fields = filled(1);
  const filter = native.openFilter(fields, "{}");
  const functions: ((first: never) => unknown)[] = [
    native.fieldBytes,
    native.fieldColumns,
    native.stepFilter,
    native.stepCount,
    native.countedValues,
  ];
  for (const call of functions) {
    for (const first of [undefined, {}, 1, "fields"]) {
      expect(() => call(first as never)).toThrow(TypeError);
    }
  }
  expect(() => native.stepFilter(fields as never)).toThrow(TypeError);
  expect(() => native.fieldBytes(filter as never)).toThrow(TypeError);
  expect(() => native.beginFilter(filter, new Uint8Array(4) as never)).toThrow(TypeError);
  expect(() => native.fieldEntries(fields, PATH as number, "", 0, 2, 1)).toThrow(TypeError);
  expect(() => native.fieldEntries(fields, PATH as number, "", 0, 1, 3)).toThrow(TypeError);
  expect(() => native.fieldEntries(fields, FRONTMATTER as number, "no", 0, 0, 1)).toThrow(
    TypeError,
  );
});

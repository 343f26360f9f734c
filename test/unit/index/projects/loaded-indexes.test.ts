import { expect, test } from "bun:test";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { LoadedIndexes } from "../../../../src/index/projects/loaded-indexes.ts";
import type {
  FieldsRow,
  Members,
  VersionReader,
} from "../../../../src/index/versions/version-index.ts";
import {
  type Renumbering,
  UnknownVersion,
  VersionTable,
} from "../../../../src/index/versions/version-table.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

const PROJECT = "project";

const row = (id: string): FieldsRow => ({
  file_version_id: id,
  path: `${id}.md`,
  head: "",
  dimensions: [],
  metadata: "[]",
});

/** Versions that are not stored, because their commit was lost. */
const LOST = new Set(["lost"]);

const reader: VersionReader = {
  async *chunks() {},
  async *documents() {},
  async *fields(ids) {
    yield ids.filter((id) => !LOST.has(id)).map(row);
  },
};

/** Fields, and another index that may fail and records its calls. */
function openIndexes() {
  const fields = new FieldIndex(PLAIN_NAMES);
  const table = new VersionTable();
  const other = {
    name: "text",
    fails: false,
    added: [] as string[],
    scopes: new Map<string, number[]>(),
    renumberings: [] as Renumbering[],
    moved: [] as [number, number][],
    openProject() {},
    async add(_: string, versions: readonly string[]) {
      if (other.fails) throw new Error("fails on purpose");
      other.added.push(...versions);
    },
    setScope: (_: string, id: string, { numbers }: Members) =>
      void other.scopes.set(id, [...numbers]),
    dropScope: (_: string, id: string) => void other.scopes.delete(id),
    moveNumbers: (_: string, numbers: ReadonlyMap<number, number>) =>
      void other.moved.push(...numbers),
    renumber: (_: string, renumbering: Renumbering) => void other.renumberings.push(renumbering),
  };
  const context = { indexes: [fields, other], fields, reader } as never;
  const indexes = new LoadedIndexes(PROJECT, context, { baseChanges: () => {} });
  indexes.open(table);
  return { indexes, table, other };
}

test("of a scope only those versions are added that an index does not know", async () => {
  const { indexes, table, other } = openIndexes();
  expect(indexes.unknown(["a", "b"])).toEqual(["a", "b"]);
  await indexes.add(["a", "b"]);
  indexes.setScope("scope", ["a", "b"]);
  expect(indexes.unknown(["a", "b", "c"])).toEqual(["c"]);
  indexes.readAgain(["b"]);
  expect(indexes.unknown(["a", "b", "c"])).toEqual(["b", "c"]);
  await indexes.add(["a", "b", "c"]);
  expect(other.added).toEqual(["a", "b", "b", "c"]);
  expect(other.moved).toEqual([[1, 2]]);
  expect(table.scopes.get("scope")).toEqual(Uint32Array.of(0b101));
});

test("a version that one index could not add is unknown, and is added to all of them again", async () => {
  const { indexes, other } = openIndexes();
  other.fails = true;
  await expect(indexes.add(["a"])).rejects.toThrow("fails on purpose");
  expect(indexes.unknown(["a"])).toEqual(["a"]);
  other.fails = false;
  await indexes.add(["a"]);
  expect([indexes.unknown(["a"]), other.added]).toEqual([[], ["a"]]);
  // The other index may have added it under the first number.
  expect(other.moved).toEqual([[0, 1]]);
});

test("a scope with a version that is not stored stays as it is", async () => {
  const { indexes, table, other } = openIndexes();
  await indexes.add(["a", "lost"]);
  indexes.setScope("scope", ["a"]);
  expect(() => indexes.setScope("scope", ["a", "lost"])).toThrow(UnknownVersion);
  expect([other.scopes.get("scope"), table.scopes.get("scope")]).toEqual([
    [0],
    Uint32Array.of(0b1),
  ]);
  indexes.dropScope("scope");
  expect([other.scopes.size, indexes.hasScope("scope")]).toEqual([0, false]);
});

test("versions that no scope holds are forgotten by all indexes, and not before a step has ended", async () => {
  const { indexes, table, other } = openIndexes();
  await indexes.add(["a", "b", "c"]);
  indexes.setScope("scope", ["a", "b", "c"]);
  const step = Promise.withResolvers<void>();
  const running = indexes.exclusively(async () => {
    indexes.setScope("scope", ["c"]);
    await step.promise;
    // As a scope does that was read before and holds them.
    indexes.setScope("other", ["b"]);
  });
  const forgotten = indexes.forgetUnheld();
  step.resolve();
  await running;
  await forgotten;
  expect(indexes.unknown(["a", "b", "c"])).toEqual(["a"]);
  expect(table.ids).toEqual(["b", "c"]);
  expect([...table.scopes]).toEqual([
    ["scope", Uint32Array.of(0b10)],
    ["other", Uint32Array.of(0b01)],
  ]);
  expect(other.renumberings).toHaveLength(1);
});

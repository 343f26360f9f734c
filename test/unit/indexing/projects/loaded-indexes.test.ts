import { expect, test } from "bun:test";
import { FieldIndex } from "../../../../src/indexing/fields/field-index.ts";
import { LoadedIndexes } from "../../../../src/indexing/projects/loaded-indexes.ts";
import {
  type FieldsRow,
  UnknownVersion,
  type VersionReader,
} from "../../../../src/indexing/versions/version-index.ts";

const PROJECT = "project";

const row = (id: string): FieldsRow => ({
  ...{ file_version_id: id, path: `${id}.md`, head: "", dimensions: [], metadata: "[]" },
});

const reader: VersionReader = {
  async *chunks() {},
  async *documents() {},
  async *fields(ids) {
    yield ids.map(row);
  },
};

/** Fields, and before them another index that forgets versions when it is told to. */
function openIndexes() {
  const fields = new FieldIndex();
  fields.openProject(PROJECT);
  const known = new Set<string>();
  const other = {
    name: "text",
    knows: (_: string, version: string) => known.has(version),
    add: async (_: string, versions: readonly string[]) => {
      for (const version of versions) known.add(version);
    },
    setScope: (_: string, __: string, versions: readonly string[]) => {
      if (!versions.every((version) => known.has(version))) throw new UnknownVersion();
    },
  };
  const context = { indexes: [other, fields], fields, reader } as never;
  const indexes = new LoadedIndexes(PROJECT, context, { baseChanges: () => {} });
  return { indexes, known };
}

test("of a scope only those versions are added that an index does not know", async () => {
  const { indexes } = openIndexes();
  expect(indexes.unknown(["a", "b"], "scope")).toEqual(["a", "b"]);
  await indexes.add(["a", "b"]);
  indexes.setScope("scope", ["a", "b"]);
  expect(indexes.unknown(["a", "b", "c"], "scope")).toEqual(["c"]);
  // What another scope holds need not be added for this one.
  expect(indexes.unknown(["a", "c"], "other")).toEqual(["c"]);
  indexes.readAgain(["b"]);
  expect(indexes.unknown(["a", "b", "c"], "scope")).toEqual(["b", "c"]);
});

test("a version that one index has forgotten is added again after its scope could not be set", async () => {
  const { indexes, known } = openIndexes();
  await indexes.add(["a", "b"]);
  indexes.setScope("scope", ["a", "b"]);
  known.delete("b");
  expect(() => indexes.setScope("scope", ["a", "b"])).toThrow(UnknownVersion);
  expect(indexes.unknown(["a", "b"], "scope")).toEqual(["b"]);
});

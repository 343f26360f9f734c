import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FieldIndex } from "../../../../src/indexing/fields/field-index.ts";
import { FieldWork } from "../../../../src/indexing/fields/field-work.ts";
import { DerivedScopes } from "../../../../src/indexing/projects/derived-scopes.ts";
import type {
  FieldsRow,
  Members,
  VersionReader,
} from "../../../../src/indexing/versions/version-index.ts";
import { FILTERS_CACHED_MAX } from "../../../../src/shared/limits.ts";
import { hasDocument } from "../../../../src/text/index.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

const PROJECT = "project";
const FOLDER_FILE = "fields.ndjson";

const row = (id: string, number: number): FieldsRow => ({
  file_version_id: id,
  path: `${id}.md`,
  head: `---\nnumber: ${number}\n---\ntext`,
  dimensions: [768, 0],
  metadata: `[{"part": 0}, {"part": 1}]`,
});

const reader: VersionReader = {
  async *chunks() {},
  async *documents() {},
  async *fields(ids) {
    yield ids.map((id) => row(id, Number(id.slice(1))));
  },
};

const IDS = Array.from({ length: 300 }, (_, i) => `v${i}`);

async function filled(ids: readonly string[] = IDS): Promise<FieldIndex> {
  const index = new FieldIndex();
  index.openProject(PROJECT);
  await index.add(PROJECT, ids, reader);
  index.setScope(PROJECT, "a", ids);
  return index;
}

/** The ids of the versions in a derived scope, with the indexes of their chunks. */
function membersOf({ versions, numbers, chunks }: Members): Record<string, number[]> {
  const entries = [...numbers].map((number) => {
    const [first, end] = [versions.firstChunks[number], versions.firstChunks[number + 1]];
    const own = Array.from({ length: (end as number) - (first as number) }, (_, i) => i);
    const isMember = (i: number) => chunks === null || hasDocument(chunks, (first as number) + i);
    return [versions.idOf(number), own.filter(isMember)] as const;
  });
  return Object.fromEntries(entries);
}

/** Derives scopes from an index; `derived` has those that searches find. */
function deriving(fields: FieldIndex) {
  const derived = new Map<string, Record<string, number[]>>();
  const searched = {
    name: "searched",
    derive: (_: string, id: string, members: Members) => void derived.set(id, membersOf(members)),
    dropDerived: (_: string, id: string) => void derived.delete(id),
  };
  const context = {
    fields,
    indexes: [fields, searched],
    fieldWork: new FieldWork(),
  };
  const scopes = new DerivedScopes(PROJECT, context as never);
  const ensure = async (json: string, tenant = "tenant") => {
    const id = `a#${json}`;
    const filter = { base: "a", json };
    const isThere = await scopes.ensure({
      ...{ scope: { id, kind: "environment", filter }, tenant, indexes: ["searched"] },
    });
    return isThere ? derived.get(id) : undefined;
  };
  const replace = (ids: readonly string[]) => {
    scopes.baseChanges("a");
    fields.setScope(PROJECT, "a", ids);
  };
  return { scopes, derived, ensure, replace };
}

test("fields are the same after a restart", async () => {
  const index = await filled();
  const folder = temporaryFolder("fields");
  await index.snapshot(PROJECT, folder, 0);
  const restored = new FieldIndex();
  expect(await restored.restore(PROJECT, folder, 0)).toBe(true);
  expect(IDS.every((id) => restored.knows(PROJECT, id))).toBe(true);
  for (const filter of [`{"frontmatter.number":7}`, `{"metadata.part":1}`, `{"path":"v9.md"}`]) {
    const before = await deriving(index).ensure(filter);
    expect(Object.keys(before ?? {}).length).toBeGreaterThan(0);
    expect(await deriving(restored).ensure(filter)).toEqual(before as Record<string, number[]>);
  }
});

test("a damaged snapshot and one of another format are refused, and a missing one is none", async () => {
  const index = await filled();
  const folder = temporaryFolder("fields");
  expect(await new FieldIndex().restore(PROJECT, folder, 0)).toBe(false);
  await index.snapshot(PROJECT, folder, 0);
  const file = join(folder, FOLDER_FILE);
  const text = readFileSync(file, "utf8");
  for (const other of [
    text.replace("number", "numbes"),
    text.replace(`"format":5`, `"format":99`),
  ]) {
    writeFileSync(file, other);
    await expect(new FieldIndex().restore(PROJECT, folder, 0)).rejects.toThrow();
  }
});

test("a change of the scope drops what was derived from it, at once", async () => {
  const { derived, ensure, replace } = deriving(await filled());
  const filter = `{"frontmatter.number":{"$lt":2}}`;
  expect(await ensure(filter)).toEqual({ v0: [0, 1], v1: [0, 1] });
  replace(IDS.slice(1));
  expect(derived.size).toBe(0);
  expect(await ensure(filter)).toEqual({ v1: [0, 1] });
});

test("a scope that changes while a filter is evaluated is derived as it is afterwards", async () => {
  const { ensure, replace } = deriving(await filled());
  const found = ensure(`{"metadata.part":1}`);
  replace(["v5"]);
  expect(await found).toEqual({ v5: [1] });
});

test("ever new filters of one user cost another none of theirs, and use bounded memory", async () => {
  const { derived, ensure } = deriving(await filled(IDS.slice(0, 3)));
  await ensure(`{"path":"v1.md"}`, "other");
  for (let i = 0; i < FILTERS_CACHED_MAX * 3; i++) await ensure(`{"frontmatter.number":${i}}`);
  expect(derived.size).toBe(FILTERS_CACHED_MAX);
  expect(derived.has(`a#{"path":"v1.md"}`)).toBe(true);
});

test("what is being evaluated when its project is closed is not derived", async () => {
  const { scopes, derived, ensure } = deriving(await filled());
  const found = ensure(`{"metadata.part":1}`);
  scopes.close();
  expect(await found).toBeUndefined();
  expect(derived.size).toBe(0);
});

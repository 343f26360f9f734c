import { expect, test } from "bun:test";
import { FILTERS_CACHED_MAX } from "../../../../src/domain/limits.ts";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { FieldWork } from "../../../../src/index/fields/field-work.ts";
import { DerivedScopes } from "../../../../src/index/projects/derived-scopes.ts";
import { buildSegment, hasDocument, newView } from "../../../../src/index/segments/index.ts";
import { renderChunk } from "../../../../src/index/versions/chunk-content.ts";
import type {
  ChunkRow,
  FieldsRow,
  Members,
  VersionReader,
} from "../../../../src/index/versions/version-index.ts";
import { type Renumbering, VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { retrieve, SCOPE } from "../../../../support/requests.ts";
import { contentsOf } from "../../../../support/segment-contents.ts";
import { PLAIN_NAMES } from "../plain-names.ts";
import { restore, save } from "../saved.ts";

const PROJECT = "project";

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

const chunkOf = (id: string): ChunkRow => ({
  id,
  file_version_id: id,
  file_id: id,
  file_path: `${id}.md`,
  index: 0,
  content: "a river",
  start_offset: 0,
  end_offset: 7,
  token_count: 2,
  metadata: "{}",
  embedding: null,
});

const IDS = Array.from({ length: 300 }, (_, i) => `v${i}`);

async function filled(ids: readonly string[] = IDS): Promise<FieldIndex> {
  const index = new FieldIndex(PLAIN_NAMES);
  const table = new VersionTable();
  index.openProject(PROJECT, table);
  await index.add(PROJECT, ids, reader);
  table.added(ids);
  table.setScope("a", table.setOf(ids));
  return index;
}

const tableOf = (index: FieldIndex) => index.find(PROJECT)?.table as VersionTable;

/** The ids of the versions in a derived scope, with the indexes of their chunks. */
function membersOf(table: VersionTable, { numbers, chunks }: Members): Record<string, number[]> {
  const entries = [...numbers].map((number) => {
    const [first = 0, end = 0] = table.firstChunks.subarray(number, number + 2);
    const own = Array.from({ length: end - first }, (_, i) => i);
    const isMember = (i: number) => chunks === null || hasDocument(chunks, first + i);
    return [table.idOf(number), own.filter(isMember)] as const;
  });
  return Object.fromEntries(entries);
}

/** Derives scopes from an index; `derived` has those that searches find. */
function deriving(fields: FieldIndex) {
  const derived = new Map<string, Record<string, number[]>>();
  const searched = {
    name: "searched",
    setScope: (_: string, id: string, members: Members) =>
      void derived.set(id, membersOf(tableOf(fields), members)),
    dropScope: (_: string, id: string) => void derived.delete(id),
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
      scope: { id, kind: "environment", filter },
      tenant,
      indexes: ["searched"],
    });
    return isThere ? derived.get(id) : undefined;
  };
  const replace = (ids: readonly string[]) => {
    scopes.baseChanges("a");
    tableOf(fields).setScope("a", tableOf(fields).setOf(ids));
  };
  return { scopes, derived, ensure, replace };
}

test("fields are the same after a restart", async () => {
  const index = await filled();
  tableOf(index).readAgain(["v8"]);
  const folder = temporaryFolder("fields");
  const written = save(folder, PROJECT, index);
  // Later changes are not in it, nor are the new numbers of versions.
  await index.add(PROJECT, ["v300"], reader);
  tableOf(index).added(["v300"]);
  tableOf(index).setScope("a", tableOf(index).setOf(IDS.slice(0, 50)));
  index.renumber(PROJECT, tableOf(index).forgetUnheld() as Renumbering);
  await written;
  const restored = new FieldIndex(PLAIN_NAMES);
  const table = await restore(folder, PROJECT, [restored]);
  expect(IDS.filter((id) => !table.knows(id))).toEqual(["v8"]);
  for (const filter of [`{"frontmatter.number":7}`, `{"metadata.part":1}`, `{"path":"v9.md"}`]) {
    const found = await deriving(restored).ensure(filter);
    expect(Object.keys(found ?? {}).length).toBeGreaterThan(0);
    expect(found).toEqual((await deriving(await filled()).ensure(filter)) ?? {});
  }
});

/** The paths that facets count among these versions, all of which match by their text. */
function countedPaths(ids: readonly string[]): string[] {
  return counted(ids, "path");
}

/** The values of a field that they count. */
function counted(ids: readonly string[], field: string, scopeId = SCOPE.id): string[] {
  const plain = { headings: [], frontmatter: [], content: "a river" };
  const documents = ids.map((id) => ({ ...plain, id, path: `${id}.md`, title: id }));
  const { buffer } = contentsOf(buildSegment(documents));
  const view = newView([{ key: "a", buffer: buffer as SharedArrayBuffer }], [null]);
  const versions = ids.map((id) => ({ id, chunks: [renderChunk(chunkOf(id)), null] }));
  const { json } = retrieve(view, {
    mode: "keyword",
    query: "river",
    given: { versions, hits: null },
    fields: PROJECT,
    facets: [field],
    scope: { ...SCOPE, id: scopeId },
  });
  const { facets } = JSON.parse(new TextDecoder().decode(json));
  return facets[field].values.map(({ value }: { value: string }) => value);
}

test("facets count the fields of a project, also after a restart and under other numbers", async () => {
  const index = await filled();
  expect(countedPaths(["v7", "v9"])).toEqual(["v7.md", "v9.md"]);
  tableOf(index).setScope("a", tableOf(index).setOf(IDS.slice(8, 50)));
  index.renumber(PROJECT, tableOf(index).forgetUnheld() as Renumbering);
  await index.add(PROJECT, ["v300"], reader);
  expect(countedPaths(["v7", "v9", "v300"])).toEqual(["v300.md", "v9.md"]);
  const folder = temporaryFolder("fields");
  await save(folder, PROJECT, index);
  index.dropProject(PROJECT);
  expect(() => countedPaths(["v9"])).toThrow("not-loaded");
  await restore(folder, PROJECT, [new FieldIndex(PLAIN_NAMES)]);
  expect(countedPaths(["v7", "v9"])).toEqual(["v9.md"]);
});

test("facets of a filtered scope count its chunks, also of versions that are added again", async () => {
  const index = await filled(["v1", "v2"]);
  const table = tableOf(index);
  const context = { fields: index, indexes: [index], fieldWork: new FieldWork() };
  const scopes = new DerivedScopes(PROJECT, context as never);
  const ensure = (part = 1) => {
    const filter = { base: "a", json: `{"metadata.part":${part}}` };
    const scope = { id: `a#${part}`, kind: "environment", filter } as const;
    return scopes.ensure({ scope, tenant: "tenant", indexes: ["fields"] });
  };
  const parts = (part = 1) => counted(["v1", "v2"], "metadata.part", `a#${part}`);
  const memory = () => index.stats(PROJECT)[0]?.bytes as number;
  const before = memory();
  await ensure();
  expect(memory()).toBeGreaterThan(before);
  expect(parts()).toEqual([1] as never);
  // The scopes have the earlier numbers until all indexes have these versions.
  table.readAgain(["v1", "v2"]);
  await index.add(PROJECT, ["v1", "v2"], reader);
  expect(parts()).toEqual([1] as never);
  index.moveNumbers(PROJECT, table.added(["v1", "v2"]));
  expect(parts).toThrow("not-loaded");
  await ensure();
  expect(parts()).toEqual([1] as never);
  // A filter that nobody has asked for before knows the new numbers only.
  await ensure(0);
  expect(parts(0)).toEqual([0] as never);
  expect(countedPaths(["v1", "v2"])).toEqual(["v1.md", "v2.md"]);
  scopes.baseChanges("a");
  expect(parts).toThrow("not-loaded");
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

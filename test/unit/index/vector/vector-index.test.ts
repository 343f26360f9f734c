import { afterAll, afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../../../native/index.ts";
import { searchRaw } from "../../../../native/testing.ts";
import { parseMarkdown } from "../../../../src/documents/markdown/index.ts";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { LoadedIndexes } from "../../../../src/index/projects/loaded-indexes.ts";
import {
  addDocument,
  buildSegment,
  emptyDocumentSet,
  newView,
} from "../../../../src/index/segments/index.ts";
import { VectorIndex } from "../../../../src/index/vector/vector-index.ts";
import type {
  ChunkRow,
  EmptyVersionRow,
  VersionReader,
} from "../../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { retrieve, SCOPE } from "../../../../support/requests.ts";
import { until } from "../../../../support/until.ts";
import { makeVectors } from "../../../../support/vectors.ts";
import { PLAIN_NAMES } from "../plain-names.ts";
import { restore, save } from "../saved.ts";

const PROJECT = "vectors";
const DIMENSION = 768;
/** Versions that a run may add, and the most chunks of one. */
const VERSIONS = 400;
const CHUNKS = 9;
/** Versions of each scope whose chunks are shown after every step. */
const SHOWN = 12;
const wholeShard = native.setShardNodes(300);
const pool = makeVectors("uniform", VERSIONS * 2, DIMENSION, 91);

/** Versions that have been embedded: before, every fifth chunk has no vector. */
const embedded = new Set<number>();
const hasVector = (version: number, index: number) =>
  embedded.has(version) || (version + index) % 5 !== 0;

/** Distinct versions have vectors in common, as those of one file do. */
const chunksOf = (version: number) =>
  Array.from({ length: version % (CHUNKS + 1) }, (_, i) => (version * 3 + i) % (VERSIONS * 2));

const idOf = (version: number) => `00000000-0000-4000-8000-${String(version).padStart(12, "0")}`;
const chunkId = (version: number, index: number) =>
  `${index.toString(16).padStart(8, "0")}-0000-4000-8000-${String(version).padStart(12, "0")}`;

function rowsOf(version: number): Array<ChunkRow | EmptyVersionRow> {
  const chunks = chunksOf(version);
  const file = {
    file_version_id: idOf(version),
    file_id: idOf(version),
    file_path: `${version}.md`,
  };
  if (chunks.length === 0) return [{ id: null, ...file, embedding: null }];
  return chunks.map((vector, index) => ({
    id: chunkId(version, index),
    ...file,
    index,
    content: `only${version}`,
    start_offset: 0,
    end_offset: 1,
    token_count: 1,
    metadata: "{}",
    embedding: hasVector(version, index)
      ? new Uint8Array(pool.slice(vector * DIMENSION, (vector + 1) * DIMENSION).buffer)
      : null,
  }));
}

const reader: VersionReader = {
  async *chunks(ids) {
    for (const id of ids) {
      yield rowsOf(Number(id.slice(-12)));
      await Bun.sleep(0);
    }
  },
  async *documents() {},
  async *fields(ids) {
    yield ids.map((id) => {
      const version = Number(id.slice(-12));
      const chunks = chunksOf(version);
      const metadata = JSON.stringify(chunks.map(() => ({})));
      const row = { file_version_id: id, path: "", head: null, metadata };
      return { ...row, dimensions: chunks.map((_, i) => (hasVector(version, i) ? DIMENSION : 0)) };
    });
  },
};

const documents = Array.from({ length: VERSIONS }, (_, version) => {
  const path = `${version}.md`;
  return { id: idOf(version), path, ...parseMarkdown(path, `only${version}`) };
});
documents.sort((a, b) => (a.path < b.path ? -1 : 1));
const view = newView(
  [{ key: "versions", buffer: buildSegment(documents) as SharedArrayBuffer }],
  [null],
);

/** The ids of the chunks of a version that a retrieval in a scope shows; null for a file without chunks. */
function shown(scope: string, version: number): Array<string | null> {
  const { json } = retrieve(view, {
    project: PROJECT,
    scope: { ...SCOPE, id: scope },
    mode: "keyword",
    query: `only${version}`,
    limit: 1,
    groupSize: CHUNKS,
  });
  const { data } = JSON.parse(new TextDecoder().decode(json)) as {
    data: Array<{ hits: Array<{ chunk: { id: string } | null }> }>;
  };
  return data.flatMap(({ hits }) => hits.map(({ chunk }) => chunk?.id ?? null)).sort();
}

/** The chunks of a project, on top of its fields, which number the versions. */
function open() {
  const [fields, vector] = [new FieldIndex(PLAIN_NAMES), new VectorIndex(PLAIN_NAMES)];
  const context = { indexes: [fields, vector], fields, reader } as never;
  const indexes = new LoadedIndexes(PROJECT, context, { baseChanges() {} });
  return { fields, vector, indexes };
}

type World = ReturnType<typeof open>;

/** Opens an empty project. */
function opened(): World {
  const world = open();
  world.indexes.open(new VersionTable());
  return world;
}

async function snapshot({ fields, vector }: World, folder: string): Promise<void> {
  await save(folder, PROJECT, fields, vector);
  vector.dropProject(PROJECT);
}

async function restored(folder: string): Promise<World> {
  const world = open();
  world.indexes.open(await restore(folder, PROJECT, [world.fields, world.vector]));
  return world;
}

/** Forgets versions that no scope holds, and maintains the index. */
async function settled({ indexes, vector }: World): Promise<void> {
  await indexes.forgetUnheld();
  await until("the index is maintained", () => vector.maintain(PROJECT) === "done");
}

/** Replaces a scope as the indexing thread does: adds what is unknown first. */
async function replace({ indexes }: World, scope: string, versions: readonly number[]) {
  const ids = versions.map(idOf);
  await indexes.add(indexes.unknown(ids));
  indexes.setScope(scope, ids);
}

/** Every chunk of a scope that has a vector of the query's direction, and the best others. */
function found(scope: string, vector: number): string[] {
  const query = pool.slice(vector * DIMENSION, (vector + 1) * DIMENSION);
  const answer = searchRaw(PROJECT, scope, query, DIMENSION, 100, 0.999);
  return Array.from({ length: answer.scores.length }, (_, i) =>
    Buffer.from(answer.ids.subarray(i * 16, i * 16 + 16)).toString("hex"),
  ).sort();
}

function expectAnswers(scopes: ReadonlyMap<string, readonly number[]>): void {
  for (const [scope, versions] of scopes) {
    for (const vector of [0, 7, VERSIONS, 2 * VERSIONS - 1, (versions[0] ?? 0) * 3]) {
      const truth = versions.flatMap((version) =>
        chunksOf(version).flatMap((other, index) =>
          other === vector % (VERSIONS * 2) && hasVector(version, index)
            ? chunkId(version, index).replaceAll("-", "")
            : [],
        ),
      );
      expect(found(scope, vector % (VERSIONS * 2))).toEqual(truth.sort());
    }
    for (const version of versions.slice(0, SHOWN)) {
      const chunks = chunksOf(version).map((_, index) => chunkId(version, index));
      expect(shown(scope, version)).toEqual(chunks.length === 0 ? [null] : chunks);
    }
  }
}

afterEach(() => native.dropProject(PROJECT));
afterAll(() => {
  native.setShardNodes(wholeShard);
});

const version = fc.nat(VERSIONS - 1);
const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(
      fc.constantFrom("a", "b", "c"),
      fc.uniqueArray(version, { maxLength: 250 }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "drop a",
      "drop b",
      "maintain",
      "begin",
      "forget",
      "embed",
      "restart",
    ),
  },
);

test("after any changes, compactions and restarts, every scope finds its chunks and no other", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 16 }), async (operations) => {
      native.dropProject(PROJECT);
      embedded.clear();
      const folder = temporaryFolder("vector-index-");
      let world = opened();
      const scopes = new Map<string, readonly number[]>();
      for (const step of operations) {
        if (step === "maintain") await settled(world);
        else if (step === "begin") world.vector.maintain(PROJECT);
        else if (step === "forget") await world.indexes.forgetUnheld();
        else if (step === "embed") {
          const versions = [...scopes.values()].flat();
          for (const each of versions) embedded.add(each);
          world.indexes.readAgain(versions.map(idOf));
          for (const each of scopes) await replace(world, ...each);
        } else if (step === "restart") {
          await snapshot(world, folder);
          world = await restored(folder);
        } else if (typeof step === "string") {
          const scope = step.slice(-1);
          world.indexes.dropScope(scope);
          scopes.delete(scope);
        } else {
          await replace(world, ...step);
          scopes.set(...step);
        }
        expectAnswers(scopes);
      }
      await settled(world);
      expectAnswers(scopes);
    }),
    { numRuns: 12 },
  );
});

test("replacing the same files over and over does not add to the memory", async () => {
  const world = opened();
  const bytes = () => world.vector.stats(PROJECT).reduce((sum, part) => sum + part.bytes, 0);
  const files = Array.from({ length: 100 }, (_, i) => i + 10);
  await replace(world, "a", files);
  await settled(world);
  const fresh = bytes();
  for (let round = 1; round <= 10; round++) {
    // Each round replaces half of the files by versions with other chunks.
    const versions = files.map((file) => (file + (file % 2) * round * 30) % VERSIONS);
    await replace(world, "a", versions);
    await settled(world);
  }
  await replace(world, "a", files);
  await settled(world);
  expect(bytes()).toBeLessThan(fresh * 1.3 + 256 * 8_000);
  expectAnswers(new Map([["a", files]]));
});

test("versions that are on their way into a scope are kept", async () => {
  const world = opened();
  const files = Array.from({ length: 120 }, (_, i) => i);
  await world.indexes.add(files.map(idOf));
  await settled(world);
  world.indexes.setScope("a", files.map(idOf));
  expectAnswers(new Map([["a", files]]));
});

test("chunks without a vector wait for no maintenance, and a restart repeats none", async () => {
  const changes = async ({ vector }: World) => {
    let count = 0;
    await until("the index is maintained", () => {
      const state = vector.maintain(PROJECT);
      if (state === "more") count++;
      return state === "done";
    });
    return count;
  };
  const settledOf = ({ vector }: World) =>
    vector.stats(PROJECT).map(({ dimension, settled }) => [dimension, settled]);
  const world = opened();
  await replace(world, "a", [...Array(120).keys()]);
  expect(settledOf(world).sort()).toEqual([
    [0, true],
    [DIMENSION, false],
  ]);
  expect(await changes(world)).toBePositive();
  expect(settledOf(world).sort()).toEqual([
    [0, true],
    [DIMENSION, true],
  ]);
  const folder = temporaryFolder("maintained-");
  await snapshot(world, folder);
  expect(await changes(await restored(folder))).toBe(0);
});

test("a derived scope finds the chosen chunks of its versions, and is in no snapshot", async () => {
  const world = opened();
  const files = Array.from({ length: 150 }, (_, i) => i);
  await replace(world, "a", files);
  await settled(world);
  const [whole, some] = [28, 39];
  const counts = [whole, some].map((file) => chunksOf(file).length) as [number, number];
  const table = world.fields.find(PROJECT)?.table as VersionTable;
  const numbers = Uint32Array.from([whole, some], (file) => table.numberOf(idOf(file)) as number);
  const [first, second] = [...numbers].map((number) => table.firstChunks[number] as number);
  const chunks = emptyDocumentSet(table.dimensions.length);
  for (let i = 0; i < counts[0]; i++) addDocument(chunks, (first as number) + i);
  for (let i = 1; i < counts[1]; i += 2) addDocument(chunks, (second as number) + i);
  world.vector.setScope(PROJECT, "a#filter", { numbers, chunks });
  const wanted = [
    chunksOf(whole).map((_, i) => chunkId(whole, i)),
    chunksOf(some).flatMap((_, i) => (i % 2 === 1 ? [chunkId(some, i)] : [])),
  ] as const;
  expect([shown("a#filter", whole), shown("a#filter", some)]).toEqual([...wanted]);
  // Another version has no chunk that matches.
  expect([shown("a#filter", 47), shown("a", 47)]).toEqual([
    [],
    chunksOf(47).map((_, i) => chunkId(47, i)),
  ]);
  const query = pool.slice(0, DIMENSION);
  const { ids } = searchRaw(PROJECT, "a#filter", query, DIMENSION, 100, -1);
  const found = Array.from({ length: ids.length / 16 }, (_, i) =>
    Buffer.from(ids.subarray(i * 16, i * 16 + 16)).toString("hex"),
  );
  const withVectors = [whole, some].flatMap((file, at) =>
    (wanted[at] ?? []).filter((_, i) => hasVector(file, at === 0 ? i : 2 * i + 1)),
  );
  expect(found.sort()).toEqual(withVectors.map((id) => id.replaceAll("-", "")).sort());
  const folder = temporaryFolder("derived-");
  await snapshot(world, folder);
  await restored(folder);
  expect([native.hasScope(PROJECT, "a"), native.hasScope(PROJECT, "a#filter")]).toEqual([
    true,
    false,
  ]);
});

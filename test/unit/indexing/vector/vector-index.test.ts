import { afterAll, afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import * as native from "../../../../native/index.ts";
import { searchRaw } from "../../../../native/testing.ts";
import { VectorIndex } from "../../../../src/indexing/vector/vector-index.ts";
import type {
  ChunkRow,
  EmptyVersionRow,
  VersionReader,
} from "../../../../src/indexing/versions/version-index.ts";
import { addDocument, emptyDocumentSet } from "../../../../src/text/index.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { until } from "../../../../support/until.ts";
import { makeVectors } from "../../../../support/vectors.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

const PROJECT = "vectors";
const DIMENSION = 768;
/** Versions that a run may add, and the most chunks of one. */
const VERSIONS = 400;
const CHUNKS = 9;
const wholeShard = native.setShardNodes(300);
const pool = makeVectors("uniform", VERSIONS * 2, DIMENSION, 91);

/** Distinct versions have vectors in common, as those of one file do. */
const chunksOf = (version: number) =>
  Array.from({ length: version % (CHUNKS + 1) }, (_, i) => (version * 3 + i) % (VERSIONS * 2));

const idOf = (version: number) => `00000000-0000-4000-8000-${String(version).padStart(12, "0")}`;
const chunkId = (version: number, index: number) =>
  `${index.toString(16).padStart(8, "0")}-0000-4000-8000-${String(version).padStart(12, "0")}`;

function rowsOf(version: number): Array<ChunkRow | EmptyVersionRow> {
  const chunks = chunksOf(version);
  if (chunks.length === 0) return [{ id: null, file_version_id: idOf(version) }];
  return chunks.map((vector, index) => ({
    id: chunkId(version, index),
    file_version_id: idOf(version),
    file_id: idOf(version),
    file_path: `${version}.md`,
    index,
    content: `${version}`,
    start_offset: 0,
    end_offset: 1,
    token_count: 1,
    metadata: "{}",
    dimension: DIMENSION,
    embedding: new Uint8Array(pool.slice(vector * DIMENSION, (vector + 1) * DIMENSION).buffer),
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
  async *fields() {},
};

const settled = (index: VectorIndex) =>
  until("the index is maintained", () => index.maintain(PROJECT) === "done");

/** The versions by their numbers; one without chunks has the number of a chunk, too. */
const numbered = () => {
  const sizes = Array.from({ length: VERSIONS }, (_, i) => Math.max(1, chunksOf(i).length));
  const firstChunks = new Uint32Array(VERSIONS + 1);
  for (const [i, size] of sizes.entries()) firstChunks[i + 1] = (firstChunks[i] as number) + size;
  const dimensions = new Uint32Array(firstChunks[VERSIONS] as number).fill(DIMENSION);
  for (let i = 0; i < VERSIONS; i++) {
    if (chunksOf(i).length === 0) dimensions[firstChunks[i] as number] = 0;
  }
  return { numbering: 1, count: VERSIONS, idOf, firstChunks, dimensions };
};
const NUMBERED = numbered();

/** Replaces a scope as the indexing thread does: adds what is unknown first. */
async function replace(index: VectorIndex, scope: string, versions: readonly number[]) {
  const ids = versions.map(idOf);
  const unknown = ids.filter((id) => !index.knows(PROJECT, id));
  if (unknown.length > 0) await index.add(PROJECT, unknown, reader);
  const numbers = Uint32Array.from(versions).sort();
  // The indexing thread has no numbers if the index of fields lacks a version.
  const members =
    versions.length % 4 === 0 ? undefined : { versions: NUMBERED, numbers, chunks: null };
  index.setScope(PROJECT, scope, ids, members);
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
          other === vector % (VERSIONS * 2) ? chunkId(version, index).replaceAll("-", "") : [],
        ),
      );
      expect(found(scope, vector % (VERSIONS * 2))).toEqual(truth.sort());
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
  { weight: 1, arbitrary: fc.constantFrom("drop a", "drop b", "maintain", "begin", "restart") },
);

test("after any changes, compactions and restarts, every scope finds its chunks and no other", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 16 }), async (operations) => {
      native.dropProject(PROJECT);
      const folder = temporaryFolder("vector-index-");
      let index = new VectorIndex(PLAIN_NAMES);
      index.openProject(PROJECT);
      const scopes = new Map<string, readonly number[]>();
      for (const step of operations) {
        if (step === "maintain") await settled(index);
        else if (step === "begin") index.maintain(PROJECT);
        else if (step === "restart") {
          await index.snapshot(PROJECT, folder, 0);
          index.dropProject(PROJECT);
          index = new VectorIndex(PLAIN_NAMES);
          expect(await index.restore(PROJECT, folder, 0)).toBe(true);
        } else if (typeof step === "string") {
          const scope = step.slice(-1);
          index.dropScope(PROJECT, scope);
          scopes.delete(scope);
        } else {
          await replace(index, ...step);
          scopes.set(...step);
        }
        expectAnswers(scopes);
      }
      await settled(index);
      expectAnswers(scopes);
    }),
    { numRuns: 12 },
  );
});

test("replacing the same files over and over does not add to the memory", async () => {
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT);
  const bytes = () => index.stats(PROJECT).reduce((sum, part) => sum + part.bytes, 0);
  const files = Array.from({ length: 100 }, (_, i) => i + 10);
  await replace(index, "a", files);
  await settled(index);
  const fresh = bytes();
  for (let round = 1; round <= 10; round++) {
    // Each round replaces half of the files by versions with other chunks.
    const versions = files.map((file) => (file + (file % 2) * round * 30) % VERSIONS);
    await replace(index, "a", versions);
    await settled(index);
  }
  await replace(index, "a", files);
  await settled(index);
  expect(bytes()).toBeLessThan(fresh * 1.3 + 256 * 8_000);
  expectAnswers(new Map([["a", files]]));
});

test("versions that are on their way into a scope are kept", async () => {
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT);
  const files = Array.from({ length: 120 }, (_, i) => i);
  await index.add(PROJECT, files.map(idOf), reader);
  await settled(index);
  index.setScope(PROJECT, "a", files.map(idOf));
  expectAnswers(new Map([["a", files]]));
});

test("a derived scope finds the chosen chunks of its versions, and is in no snapshot", async () => {
  const index = new VectorIndex(PLAIN_NAMES);
  index.openProject(PROJECT);
  const files = Array.from({ length: 150 }, (_, i) => i);
  await replace(index, "a", files);
  await settled(index);
  const [whole, some] = [28, 39];
  const counts = [whole, some].map((file) => chunksOf(file).length) as [number, number];
  const versions = {
    ...{ numbering: 0, count: 2, idOf: (number: number) => idOf([whole, some][number] as number) },
    firstChunks: Uint32Array.of(0, counts[0], counts[0] + counts[1]),
    dimensions: new Uint32Array(counts[0] + counts[1]).fill(DIMENSION),
  };
  const chunks = emptyDocumentSet(counts[0] + counts[1]);
  for (let i = 0; i < counts[0]; i++) addDocument(chunks, i);
  for (let i = 1; i < counts[1]; i += 2) addDocument(chunks, counts[0] + i);
  index.derive(PROJECT, "a#filter", { versions, numbers: Uint32Array.of(0, 1), chunks });
  const wanted = [
    ...chunksOf(whole).map((_, i) => chunkId(whole, i)),
    ...chunksOf(some).flatMap((_, i) => (i % 2 === 1 ? [chunkId(some, i)] : [])),
  ];
  const query = pool.slice(0, DIMENSION);
  const { ids } = searchRaw(PROJECT, "a#filter", query, DIMENSION, 100, -1);
  const found = Array.from({ length: ids.length / 16 }, (_, i) =>
    Buffer.from(ids.subarray(i * 16, i * 16 + 16)).toString("hex"),
  );
  expect(found.sort()).toEqual(wanted.map((id) => id.replaceAll("-", "")).sort());
  const folder = temporaryFolder("derived-");
  await index.snapshot(PROJECT, folder, 0);
  index.dropProject(PROJECT);
  expect(await index.restore(PROJECT, folder, 0)).toBe(true);
  expect([index.hasScope(PROJECT, "a"), index.hasScope(PROJECT, "a#filter")]).toEqual([
    true,
    false,
  ]);
});

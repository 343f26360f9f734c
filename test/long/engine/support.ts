import { expect } from "bun:test";
import type { Sql } from "../../../src/db/client.ts";
import { addEnvironment, type NamedScope } from "../../../support/accounts.ts";
import {
  type Answer,
  type Caller,
  startApi,
  type TestApi,
  type TestProject,
} from "../../../support/api/api.ts";
import type { Json } from "../../../support/api/openapi.ts";
import {
  attach,
  chunkOf,
  cosineOf,
  randomVector,
  type TestChunk,
  type TestVersion,
  writeVersion,
} from "../../../support/api/versions.ts";
import { until } from "../../../support/until.ts";
import { makeVectors } from "../../../support/vectors.ts";

const CHUNKS_A_FILE = 50;
const REPLACED_FILES = 40;
const REPLACEMENTS = 20;
export const DIMENSION = 768;
/** Hits of a search that does not ask for another number. */
export const LIMIT = 10;
const RECALL_MIN = 0.97;

/** Repeats a request until the answer is as wanted, and returns that answer. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
): Promise<T> {
  let answer: T | undefined;
  await until(what, async () => {
    answer = await ask();
    return wanted(answer);
  });
  return answer as T;
}

/** A project with an environment, and how to search it. */
export interface World {
  readonly api: TestApi;
  readonly sql: Sql;
  readonly member: Caller;
  readonly project: TestProject;
  readonly environment: NamedScope;
}

export async function createWorld(env: Record<string, string | undefined> = {}): Promise<World> {
  return await worldOf(await startApi({ env }));
}

/** A project of a service that runs. */
export async function worldOf(api: TestApi): Promise<World> {
  const { owner: member, project } = await api.ownedProject();
  const environment = await addEnvironment(api.sql, project);
  return { api, sql: api.sql, member, project, environment };
}

export interface Ask {
  readonly limit?: number;
  readonly threshold?: number;
  readonly effort?: "exact";
  readonly environment?: string;
  readonly filter?: object;
}

/** Searches an environment by vector through one of the services of the world's database. */
export function look(
  { member, project }: World,
  api: TestApi,
  vector: Float32Array,
  { limit = LIMIT, threshold = 0, effort, environment = "production", filter }: Ask = {},
): Promise<Answer> {
  const query = effort === undefined ? "" : `?effort=${effort}`;
  const path = `/projects/${project.slug}/environments/${environment}/search${query}`;
  const body = { vector: Array.from(vector), dimension: vector.length, limit, threshold, filter };
  return api.post(path, body, member);
}

export const idsOf = (answer: Answer): string[] => {
  expect(answer.status).toBe(200);
  return answer.body.data.map((hit: Json) => hit.chunk.id);
};

/** The best chunks by brute force; equal scores in the order of their ids. */
export function best(chunks: readonly TestChunk[], query: Float32Array, limit: number): string[] {
  return chunks
    .map(({ id, vector }) => ({ id, score: cosineOf(vector, query) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map(({ id }) => id);
}

/** The share of the best chunks that searches have found. */
export function recallOf(
  found: ReadonlyArray<readonly string[]>,
  queries: readonly Float32Array[],
  chunks: readonly TestChunk[],
): number {
  const hits = found.map((ids, i) => {
    const wanted = new Set(best(chunks, queries[i] as Float32Array, LIMIT));
    return ids.filter((id) => wanted.has(id)).length;
  });
  return hits.reduce((sum, hit) => sum + hit, 0) / (found.length * LIMIT);
}

/** Asserts that searches with a plan are never short and find the best of these chunks. */
export async function expectBest(
  world: World,
  api: TestApi,
  queries: readonly Float32Array[],
  { chunks, plan, ...ask }: Ask & { chunks: readonly TestChunk[]; plan: string },
): Promise<void> {
  const found: string[][] = [];
  for (const query of queries) {
    const answer = await look(world, api, query, ask);
    expect(answer.headers.get("x-search-plan")).toBe(plan);
    expect(idsOf(answer)).toHaveLength(LIMIT);
    found.push(idsOf(answer));
  }
  expect(recallOf(found, queries, chunks)).toBeGreaterThanOrEqual(RECALL_MIN);
}

/** Vectors like embeddings of text. */
export function textVectors(count: number, seed: number): Float32Array<ArrayBuffer>[] {
  const all = makeVectors("text", count, DIMENSION, seed);
  return Array.from({ length: count }, (_, i) => all.slice(i * DIMENSION, (i + 1) * DIMENSION));
}

/** Writes files with these vectors, and puts them into the environment, in one transaction. */
export async function writeFiles(
  { sql, project, environment }: World,
  vectors: readonly Float32Array<ArrayBuffer>[],
  prefix = "file",
): Promise<TestVersion[]> {
  return (await sql.begin(async (tx) => {
    const versions: TestVersion[] = [];
    for (let at = 0; at < vectors.length; at += CHUNKS_A_FILE) {
      const chunks = vectors.slice(at, at + CHUNKS_A_FILE).map((vector) => chunkOf(vector));
      versions.push(await writeVersion(tx as never, project, `${prefix}-${at}.md`, chunks));
    }
    await attach(tx as never, project, environment.id, versions);
    return versions;
  })) as TestVersion[];
}

/**
 * Replaces all files of an environment in one transaction, again and again, while each of the services searches it.
 * Asserts that every search finds the one side or the other.
 */
export async function replaceWhileSearched(world: World, readers: readonly TestApi[]) {
  const { api, sql, project } = world;
  const { id } = await addEnvironment(sql, project, "replaced");
  const vector = randomVector(DIMENSION, 1);
  // Every file has one chunk, and all of them are found by every search.
  const write = (side: string) =>
    Promise.all(
      Array.from({ length: REPLACED_FILES }, (_, file) =>
        writeVersion(sql, project, `${side}-${file}.md`, [chunkOf(vector)]),
      ),
    );
  const sets = [await write("a"), await write("b")] as const;
  const expected = sets.map(
    (versions) =>
      `${chunksOf(versions)
        .map((chunk) => chunk.id)
        .sort()}`,
  );
  const sideOf = async (of: TestApi) => {
    const answer = await look(world, of, vector, { environment: "replaced", limit: 100 });
    return expected.indexOf(`${idsOf(answer).sort()}`);
  };
  const replace = async (side: 0 | 1) => {
    await sql.begin(async (tx) => {
      await tx`DELETE FROM environment_files WHERE environment_id = ${id}`;
      await attach(tx as never, project, id, sets[side]);
    });
    await until("the new files are found", async () => (await sideOf(api)) === side);
  };
  await replace(0);
  let isDone = false;
  const read = async (of: TestApi) => {
    while (!isDone) expect(await sideOf(of), "a search finds one side").toBeOneOf([0, 1]);
  };
  const replacing = async () => {
    for (let i = 1; i <= REPLACEMENTS; i++) await replace(i % 2 === 0 ? 0 : 1);
  };
  const done = replacing().finally(() => {
    isDone = true;
  });
  await Promise.all([done, ...readers.map(read)]);
}

export const chunksOf = (versions: readonly TestVersion[]) =>
  versions.flatMap(({ chunks }) => chunks);

interface StoredCopy {
  readonly id: string;
  readonly placements: number[];
}

/**
 * The copies of a project, that which searches read first.
 * @param engine the vector database
 */
export function copiesOf(engine: Sql, projectId: string): Promise<StoredCopy[]> {
  return engine<StoredCopy[]>`
    SELECT id, placements FROM tessera_vectors.copies WHERE project_id = ${projectId}
    ORDER BY state = 'serving' DESC`;
}

/** How many rows a vector database holds. */
export async function storedRows(engine: Sql): Promise<number> {
  const [row] = await engine<{ rows: number }[]>`
    SELECT coalesce(sum(rows), 0)::int AS rows FROM tessera_vectors.tables`;
  return row?.rows ?? 0;
}

/** Waits until all changes are searchable and all graphs are built. */
export async function untilComplete({ api, member, project }: World): Promise<void> {
  const read = () => api.get(`/projects/${project.slug}/index-state`, member);
  await eventually("all changes are searchable", read, ({ body }) => {
    return body.complete && body.data.some(isVectors);
  });
}

const isVectors = ({ dimension }: Json): boolean => dimension !== null;

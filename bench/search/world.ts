import type { Sql } from "../../src/db/client.ts";
import {
  addApiKey,
  addEnvironment,
  addProject,
  addRelease,
  addUser,
  type Project,
} from "../../support/accounts.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { attach, type BenchFile, chunksOf, slices, writeFiles } from "../harness/content.ts";
import { readVectors } from "../harness/vector-files.ts";

/** What the benchmark searches: files of ten chunks, and releases with some of them. */
export interface World {
  readonly dimension: number;
  readonly chunks: number;
  /** All vectors, then perhaps the queries, one after another. */
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly queries: readonly Float32Array<ArrayBuffer>[];
}

/** Whose the project is that holds a world, and with which key it is searched. */
export interface Owned {
  readonly project: Project;
  readonly userId: string;
  readonly apiKey: string;
}

/** Scopes by their share of the chunks; 1 is the environment `production`. */
export const SHARES = [1, 0.5, 0.1, 0.02, 0.005] as const;
export const CHUNKS_PER_FILE = 10;

export const SLUG = "bench";
const BATCH_CHUNKS = 500;

/** Whether a file is in the scope of this share. Members are spread evenly over all clusters. */
export function isMember(file: number, share: number): boolean {
  return (Math.imul(file + 1, 0x9e3779b1) >>> 0) / 2 ** 32 < share;
}

const releaseName = (share: number) => `share-${share}`;

/** Vectors and queries from one distribution; the same arguments give the same ones. */
export function makeWorld(
  chunks: number,
  queryCount: number,
  dimension: number,
  kind: DataKind = "clusters",
): World {
  const vectors = makeVectors(kind, chunks + queryCount, dimension, 1);
  return { dimension, chunks, vectors, queries: slices(vectors, dimension, chunks) };
}

/** Vectors and queries from files. */
export function givenWorld(base: string, asked: string, count: number, dimension: number): World {
  const { rows: chunks, values: vectors } = readVectors(base, dimension);
  const { rows, values } = readVectors(asked, dimension);
  const queries = slices(values, dimension, 0, Math.min(rows, count));
  return { dimension, chunks, vectors, queries };
}

/** A scope of some files, by their numbers. */
interface Part {
  readonly name: string;
  readonly files: readonly number[];
}

/**
 * Writes files in batches of some chunks, a release for each part, which is frozen, and at last the environment
 * `production` with all of them.
 */
export async function writeScopes(
  sql: Sql,
  count: number,
  fileOf: (number: number) => BenchFile,
  parts: readonly Part[],
  slug = SLUG,
): Promise<Owned> {
  const userId = await addUser(sql);
  const { key: apiKey } = await addApiKey(sql, userId);
  const project = await addProject(sql, userId, slug);
  const versions: string[] = [];
  while (versions.length < count) {
    const batch: BenchFile[] = [];
    for (let chunks = 0; chunks < BATCH_CHUNKS && versions.length + batch.length < count; ) {
      const file = fileOf(versions.length + batch.length);
      batch.push(file);
      chunks += file.chunks.length;
    }
    versions.push(...(await writeFiles(sql, project.id, batch)));
  }
  for (const { name, files } of parts) {
    const { id } = await addRelease(sql, project, name);
    await sql`SELECT fill_release(${id}, ${files.map((file) => versions[file] as string)}::uuid[])`;
  }
  const environment = await addEnvironment(sql, project);
  await attach(sql, project.id, environment.id, versions);
  return { project, userId, apiKey };
}

/** Writes the world to PostgreSQL. */
export async function writeWorld<T extends World>(
  sql: Sql,
  world: T,
  slug = SLUG,
): Promise<T & Owned> {
  const { chunks, vectors, dimension } = world;
  const count = Math.ceil(chunks / CHUNKS_PER_FILE);
  const numbers = Array.from({ length: count }, (_, i) => i);
  const fileOf = (number: number): BenchFile => {
    const [path, first] = [`docs/file-${number}.md`, number * CHUNKS_PER_FILE];
    const own = slices(vectors, dimension, first, Math.min(chunks, first + CHUNKS_PER_FILE));
    return { path, content: null, chunks: chunksOf(own, path) };
  };
  const parts = SHARES.filter((share) => share < 1).map((share) => ({
    name: releaseName(share),
    files: numbers.filter((file) => isMember(file, share)),
  }));
  return { ...world, ...(await writeScopes(sql, count, fileOf, parts, slug)) };
}

/** The number of the chunk that a result is. */
export function chunkOf(hit: { readonly file_path: string; readonly index: number }): number {
  return Number(/file-(\d+)\.md$/.exec(hit.file_path)?.[1]) * CHUNKS_PER_FILE + hit.index;
}

/** Path of the search operation in the scope of this share. */
export function searchPath(share: number, slug = SLUG): string {
  const scope = share === 1 ? "environments/production" : `releases/${releaseName(share)}`;
  return `/projects/${slug}/${scope}/search`;
}

/** Waits until the graph holds every vector. */
export async function untilGraphed(sql: Sql, chunks: number): Promise<void> {
  for (;;) {
    const [state] = await sql`
      SELECT sum(vectors)::int AS vectors, sum(graphed)::int AS graphed FROM index_state
      WHERE updated_at > now() - interval '10 seconds'`;
    if (state?.["vectors"] === chunks && state["graphed"] === chunks) return;
    await Bun.sleep(250);
  }
}

import { generateKey } from "../../src/auth/key-format.ts";
import type { Sql } from "../../src/db/client.ts";
import { randomNumbers } from "../../support/random.ts";
import { makeVectors } from "../../support/vectors.ts";
import { readVectors } from "../harness/vector-files.ts";
import {
  chunkId,
  idOf,
  PROJECT_ID,
  versionId,
  type World,
  writeOwner,
  writeRelease,
} from "./world.ts";

export const SHARES = [0.5, 0.1, 0.01, 0.001] as const;
/** How the members of a scope relate to the queries. */
export const RELATIONS = ["unrelated", "near", "far"] as const;
export type Relation = (typeof RELATIONS)[number];

const BATCH_FILES = 500;

/** Files of one chunk each, whose frontmatter has two ranks. */
export interface FilteredWorld extends World {
  /** A random permutation of the files. */
  readonly rank: readonly number[];
  /** The files by their cosine to one of them, the nearest first. */
  readonly nearness: readonly number[];
  /** The queries that are nearest to the same file. */
  readonly nearQueries: readonly Float32Array<ArrayBuffer>[];
}

function ranksOf(order: readonly number[]): number[] {
  const ranks = new Array<number>(order.length);
  for (const [rank, file] of order.entries()) ranks[file] = rank;
  return ranks;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, squares, others] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    product += x * y;
    squares += x * x;
    others += y * y;
  }
  return product / Math.sqrt(squares * others);
}

/** Indexes of the vectors, the nearest to `centre` first. */
function byNearness(vectors: readonly Float32Array[], centre: Float32Array): number[] {
  const scores = vectors.map((vector) => cosine(vector, centre));
  return scores.map((_, i) => i).sort((a, b) => (scores[b] as number) - (scores[a] as number));
}

/** @param path a file of vectors; generated ones without it */
export function makeFilteredWorld(
  path: string,
  count: number,
  queryCount: number,
  dimension: number,
): FilteredWorld {
  const all = path === "" ? undefined : readVectors(path, dimension);
  const chunks = all === undefined ? count : Math.min(count, all.rows - 2 * queryCount);
  const total = chunks + 2 * queryCount;
  const vectors = all?.values ?? makeVectors("clusters", total, dimension, 1);
  const vectorAt = (i: number) => vectors.slice(i * dimension, (i + 1) * dimension);
  const own = Array.from({ length: chunks }, (_, i) => vectorAt(i));
  const queries = Array.from({ length: 2 * queryCount }, (_, i) => vectorAt(chunks + i));
  const centre = own[0] as Float32Array;
  const near = byNearness(queries, centre).slice(0, queryCount);
  const random = randomNumbers(1);
  const keys = own.map(() => random());
  return {
    ...{ projectId: PROJECT_ID, dimension, chunks, vectors, apiKey: generateKey() },
    queries: queries.slice(0, queryCount),
    nearQueries: near.map((i) => queries[i] as Float32Array<ArrayBuffer>),
    rank: ranksOf(keys.map((_, i) => i).sort((a, b) => (keys[a] as number) - (keys[b] as number))),
    nearness: ranksOf(byNearness(own, centre)),
  };
}

/** The least and the greatest rank of a scope's members, the greatest without itself. */
export function bounds(relation: Relation, share: number, chunks: number): [number, number] {
  const size = Math.max(1, Math.round(chunks * share));
  return relation === "far" ? [chunks - size, chunks] : [0, size];
}

export const releaseName = (relation: Relation, share: number) => `${relation}-${share}`;

/** The files of a scope. */
export function membersOf(world: FilteredWorld, relation: Relation, share: number): number[] {
  const ranks = relation === "unrelated" ? world.rank : world.nearness;
  const [from, to] = bounds(relation, share, world.chunks);
  return ranks.flatMap((rank, file) => (rank >= from && rank < to ? [file] : []));
}

/** A filter with the same members, another one for each `variant`. */
export function filterOf(
  world: FilteredWorld,
  relation: Relation,
  share: number,
  variant = 0,
): object {
  const [from, to] = bounds(relation, share, world.chunks);
  const field = relation === "unrelated" ? "frontmatter.rank" : "frontmatter.nearness";
  const fraction = variant / 2 ** 20;
  return { [field]: relation === "far" ? { $gt: from - 1 + fraction } : { $lt: to - fraction } };
}

export const pathOf = (file: number) => `docs/section-${file % 50}/file-${file}.md`;

export function contentOf({ rank, nearness }: FilteredWorld, file: number, topic?: string): string {
  const lines = [
    `title: File ${file}`,
    `topic: ${topic ?? `topic-${file % 20}`}`,
    `rank: ${rank[file]}`,
    `nearness: ${nearness[file]}`,
    `tags: [docs, tag-${file % 7}]`,
    `updated: 2026-0${1 + (file % 9)}-${10 + (file % 18)}`,
  ];
  return `---\n${lines.join("\n")}\n---\n# File ${file}\n\nSome text about number ${file}.\n`;
}

async function writeFiles(sql: Sql, world: FilteredWorld, first: number): Promise<void> {
  const { dimension, vectors, chunks } = world;
  const files = Array.from({ length: Math.min(BATCH_FILES, chunks - first) }, (_, i) => first + i);
  const ids = files.map((file) => idOf(3, file));
  const contents = files.map((file) => contentOf(world, file));
  const embeddings = files.map((file) =>
    Buffer.from(vectors.buffer, file * dimension * 4, dimension * 4).toString("base64"),
  );
  await sql`
    INSERT INTO files (id, project_id, path)
    SELECT u.id, ${PROJECT_ID}, u.path FROM unnest(${ids}::uuid[], ${files.map(pathOf)}::text[]) AS u (id, path)`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, chunk_count, content)
    SELECT u.version, ${PROJECT_ID}, u.file, '1', 1, u.content
    FROM unnest(${ids}::uuid[], ${files.map(versionId)}::uuid[], ${contents}::text[]) AS u (file, version, content)`;
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      end_offset, token_count, metadata, dimension, embedding)
    SELECT u.id, ${PROJECT_ID}, u.file, u.version, u.path, 0, u.content, length(u.content), 30,
      '{"headings":["Bench"]}'::jsonb, ${dimension}, decode(u.embedding, 'base64')
    FROM unnest(${files.map(chunkId)}::uuid[], ${ids}::uuid[], ${files.map(versionId)}::uuid[],
      ${files.map(pathOf)}::text[], ${contents}::text[], ${embeddings}::text[])
      AS u (id, file, version, path, content, embedding)`;
}

/** Writes the world to PostgreSQL, unless an earlier run has. */
export async function writeFilteredWorld(sql: Sql, world: FilteredWorld): Promise<void> {
  const [written] = await sql`SELECT 1 FROM environments WHERE id = ${idOf(6, 0)}`;
  await writeOwner(sql, world.apiKey);
  if (written !== undefined) return;
  for (let first = 0; first < world.chunks; first += BATCH_FILES) {
    await writeFiles(sql, world, first);
  }
  let number = 0;
  for (const relation of RELATIONS) {
    for (const share of SHARES) {
      const members = membersOf(world, relation, share);
      await writeRelease(sql, idOf(7, number++), releaseName(relation, share), members);
    }
  }
  await sql.begin(async (tx) => {
    await tx`INSERT INTO environments (id, project_id, name)
      VALUES (${idOf(6, 0)}, ${PROJECT_ID}, 'production')`;
    await tx`
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${PROJECT_ID}, ${idOf(6, 0)}, file_id, id FROM file_versions
      WHERE project_id = ${PROJECT_ID}`;
  });
}

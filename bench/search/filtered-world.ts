import type { Sql } from "../../src/db/client.ts";
import { cosineOf } from "../../support/api/versions.ts";
import { randomNumbers } from "../../support/random.ts";
import { makeVectors } from "../../support/vectors.ts";
import { type BenchFile, slices } from "../harness/content.ts";
import { readVectors } from "../harness/vector-files.ts";
import { type Owned, type World, writeScopes } from "./world.ts";

export const SHARES = [0.5, 0.1, 0.01, 0.001] as const;
/** How the members of a scope relate to the queries. */
export const RELATIONS = ["unrelated", "near", "far"] as const;
export type Relation = (typeof RELATIONS)[number];

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

/** Indexes of the vectors, the nearest to `centre` first. */
function byNearness(vectors: readonly Float32Array[], centre: Float32Array): number[] {
  const scores = vectors.map((vector) => cosineOf(vector, centre));
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
  const own = slices(vectors, dimension, 0, chunks);
  const queries = slices(vectors, dimension, chunks, total);
  const centre = own[0] as Float32Array;
  const near = byNearness(queries, centre).slice(0, queryCount);
  const random = randomNumbers(1);
  const keys = own.map(() => random());
  return {
    dimension,
    chunks,
    vectors,
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

/** The number of the file of a result. */
export const fileOf = (chunk: { readonly file_path: string }): number =>
  Number(/file-(\d+)\.md$/.exec(chunk.file_path)?.[1]);

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

/** Writes the world to PostgreSQL, with a release for each relation and share. */
export async function writeFilteredWorld(
  sql: Sql,
  world: FilteredWorld,
): Promise<FilteredWorld & Owned> {
  const { vectors, dimension } = world;
  const fileOf = (file: number): BenchFile => {
    const content = contentOf(world, file);
    const [vector] = slices(vectors, dimension, file, file + 1) as [Float32Array<ArrayBuffer>];
    return { path: pathOf(file), content, chunks: [{ content, vector }] };
  };
  const parts = RELATIONS.flatMap((relation) =>
    SHARES.map((share) => ({
      name: releaseName(relation, share),
      files: membersOf(world, relation, share),
    })),
  );
  return { ...world, ...(await writeScopes(sql, world.chunks, fileOf, parts)) };
}

import type { Sql } from "../../../db/client.ts";
import { VECTOR_CODED_MIN_ROWS } from "../../../domain/limits.ts";
import { vectorOf } from "../../../index/versions/chunk-content.ts";
import type { VersionReader } from "../../../index/versions/version-index.ts";
import { codeLength, codeOf, codeText, thresholdsOf, vectorOfBytes } from "../codes.ts";
import { SCHEMA } from "../tables.ts";
import { bytesOf } from "./create-chunks.ts";
import type { ProjectStore } from "./store.ts";

/** Vectors that the thresholds of a table's codes divide evenly. */
export const VECTOR_THRESHOLDS_SAMPLE = 2_000;
/** Rows that are given codes by one statement. */
const VECTOR_CODE_BATCH = 500;
/** File versions that are drawn at a time. */
const VECTOR_DRAWN_VERSIONS = 50;

/** Gives codes to the tables of a project that have become large enough for them. */
export async function giveCodes(sql: Sql, store: ProjectStore): Promise<void> {
  const rows = await sql<{ dimension: number }[]>`
    SELECT dimension FROM ${sql(SCHEMA)}.tables
    WHERE copy_id = ${store.copyId} AND NOT coded AND rows >= ${VECTOR_CODED_MIN_ROWS}`;
  for (const { dimension } of rows) await codeTable(sql, store, dimension);
}

/** Chooses the thresholds from a sample, then gives every row its code. */
async function codeTable(sql: Sql, store: ProjectStore, dimension: number): Promise<void> {
  const table = store.tables.chunks(dimension);
  const sample = await sql<{ embedding: Uint8Array }[]>`
    SELECT vector_send(embedding) AS embedding FROM ${sql(table)} LIMIT ${VECTOR_THRESHOLDS_SAMPLE}`;
  const thresholds = thresholdsOf(sample.map((row) => vectorOfBytes(row.embedding)));
  await store.write(async (tx) => {
    await tx`
      UPDATE ${tx(SCHEMA)}.tables SET thresholds_id = gen_random_uuid(),
        thresholds = ${bytesOf(thresholds)}
      WHERE copy_id = ${store.copyId} AND dimension = ${dimension}`;
  });
  // Rows that are added from now on have a code.
  store.setThresholds(dimension, thresholds, false);
  for (const placement of store.placements) {
    while (await codeBatch(sql, store, { dimension, placement, thresholds }));
  }
  await store.write(async (tx) => {
    await tx`
      UPDATE ${tx(SCHEMA)}.tables SET coded = true
      WHERE copy_id = ${store.copyId} AND dimension = ${dimension}`;
  });
  store.setThresholds(dimension, thresholds, true);
}

interface CodedPart {
  readonly dimension: number;
  readonly placement: number;
  readonly thresholds: Float32Array;
}

/** Returns false once every row has a code. */
async function codeBatch(
  sql: Sql,
  store: ProjectStore,
  { dimension, placement, thresholds }: CodedPart,
): Promise<boolean> {
  const table = store.tables.chunks(dimension);
  const rows = await sql<{ chunk_id: string; embedding: Uint8Array }[]>`
    SELECT chunk_id, vector_send(embedding) AS embedding FROM ${sql(table)}
    WHERE placement = ${placement} AND code IS NULL LIMIT ${VECTOR_CODE_BATCH}`;
  if (rows.length === 0) return false;
  const ids = rows.map((row) => row.chunk_id);
  const codes = rows.map((row) => codeText(codeOf(vectorOfBytes(row.embedding), thresholds)));
  await store.write(async (tx) => {
    await tx`
      UPDATE ${tx(table)} c SET code = u.code::${tx.unsafe(`bit(${codeLength(dimension)})`)}
      FROM unnest(${ids}::uuid[], ${codes}::text[]) AS u (id, code)
      WHERE c.placement = ${placement} AND c.chunk_id = u.id`;
  });
  return true;
}

/**
 * Vectors of one dimension in file versions that are drawn at random. Stops at VECTOR_THRESHOLDS_SAMPLE vectors, or
 * after as many versions.
 */
export async function drawVectors(
  reader: VersionReader,
  versions: readonly string[],
  dimension: number,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  const left = [...versions];
  for (let drawn = 0; drawn < VECTOR_THRESHOLDS_SAMPLE; drawn += VECTOR_DRAWN_VERSIONS) {
    const some = drawFrom(left, VECTOR_DRAWN_VERSIONS);
    if (some.length === 0) break;
    for await (const rows of reader.chunks(some)) {
      for (const row of rows) {
        const vector = vectorOf(row);
        if (vector?.length === dimension) vectors.push(vector);
      }
      if (vectors.length >= VECTOR_THRESHOLDS_SAMPLE) return vectors;
    }
  }
  return vectors;
}

/** Takes random items out of a list. */
function drawFrom(items: string[], count: number): string[] {
  return Array.from({ length: Math.min(count, items.length) }, () => {
    const at = Math.floor(Math.random() * items.length);
    const item = items[at] as string;
    items[at] = items.at(-1) as string;
    items.pop();
    return item;
  });
}

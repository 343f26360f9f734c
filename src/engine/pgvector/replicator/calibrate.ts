import type { Sql } from "../../../db/client.ts";
import { SEARCH_LIMIT_MAX, VECTOR_CANDIDATES_PER_HIT } from "../../../domain/limits.ts";
import { codeLength, codeOf, codeText, unitText, vectorOfBytes } from "../codes.ts";
import { CALIBRATED_LIMITS, candidatesFor } from "../search-statement.ts";
import { SCHEMA } from "../tables.ts";
import type { ProjectStore } from "./store.ts";

/** A table is measured again when it has grown by this factor. */
export const VECTOR_RECALIBRATED_GROWTH = 2;
/** Searches of a measurement, and the share of another vector in each query. */
const VECTOR_CALIBRATION_QUERIES = 100;
const VECTOR_CALIBRATION_MIXED = 0.5;
/**
 * The share of the nearest chunks that candidates hold, on average. Mixtures are mostly harder than queries of users;
 * the recall of live searches shows where they are not. The last hundredths often need more than VECTOR_GRAPH_EF
 * candidates, which take half as long again.
 */
const VECTOR_CALIBRATION_RECALL = 0.96;
/** Candidates are multiples of this number. */
const VECTOR_CANDIDATES_STEP = 20;
const VECTOR_CANDIDATES_LEAST = 40;

const LIST_LENGTH = SEARCH_LIMIT_MAX * VECTOR_CANDIDATES_PER_HIT;

/** A chunk that the codes found. `rank` is the number of chunks of its placement that are nearer by their codes. */
interface Ranked {
  readonly rank: number;
  readonly distance: number;
}

/** A query between two stored vectors. The measurement leaves out their chunks. */
interface Query {
  readonly vector: Float32Array;
  readonly known: readonly string[];
}

/**
 * Measures the candidates that searches of a table need, by searches with the maximum number of them, and stores the
 * result. If live searches had too low a recall, they are harder than those of the measurement. They then get at least
 * twice the candidates of before, but at most as many as searches have before the first measurement.
 */
export async function calibrate(sql: Sql, store: ProjectStore, dimension: number): Promise<void> {
  const thresholds = store.thresholdsOf(dimension);
  if (thresholds === null) return;
  const lists: Ranked[][] = [];
  for (const { vector, known } of await drawQueries(sql, store, dimension)) {
    const parameters = [unitText(vector), codeText(codeOf(vector, thresholds)), `{${known}}`];
    const found = store.placements.map((placement) =>
      sql.unsafe<{ distance: number }[]>(neighbours(store, dimension, placement), parameters),
    );
    const ranked = (await Promise.all(found)).flatMap((rows) =>
      rows.map(({ distance }, rank) => ({ rank, distance })),
    );
    lists.push(ranked.sort((a, b) => a.distance - b.distance));
  }
  const candidates = CALIBRATED_LIMITS.map((limit) => candidatesOf(lists, limit));
  const most = CALIBRATED_LIMITS.map((limit) => candidatesFor(limit, null));
  await store.write(async (tx) => {
    await tx`
      UPDATE ${tx(SCHEMA)}.tables
      SET calibrated_rows = greatest(rows, 1), candidates = ARRAY(
        SELECT least(most, greatest(measured, known * CASE WHEN calibrated_rows IS NULL THEN 2 ELSE 1 END))
        FROM unnest(${candidates}::integer[], candidates, ${most}::integer[])
          WITH ORDINALITY AS t (measured, known, most, place)
        ORDER BY place)
      WHERE copy_id = ${store.copyId} AND dimension = ${dimension}`;
  });
}

/**
 * Draws stored vectors, and mixes each with a share of another. A stored vector is too easy to search for, because the
 * graph has links from it to its neighbours.
 */
async function drawQueries(sql: Sql, store: ProjectStore, dimension: number): Promise<Query[]> {
  const rows = await sql<{ chunk_id: string; embedding: Uint8Array }[]>`
    SELECT chunk_id, vector_send(embedding) AS embedding FROM (
      SELECT chunk_id, embedding FROM ${sql(store.tables.chunks(dimension))}
      ORDER BY random() LIMIT ${VECTOR_CALIBRATION_QUERIES}
    ) sample`;
  const drawn = rows.map(({ chunk_id, embedding }) => ({
    id: chunk_id,
    vector: unit(vectorOfBytes(embedding)),
  }));
  return drawn.map(({ id, vector }, i) => {
    const other = drawn[(i + 1) % drawn.length] as (typeof drawn)[number];
    const mixed = vector.map(
      (value, at) => value + VECTOR_CALIBRATION_MIXED * (other.vector[at] as number),
    );
    return { vector: mixed, known: [id, other.id] };
  });
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

/** The chunks of a placement in the order of the graph. Parameters: vector, code, chunks that are left out. */
function neighbours(store: ProjectStore, dimension: number, placement: number): string {
  return `SELECT distance FROM (
      SELECT chunk_id, half <#> $1::halfvec(${dimension}) AS distance FROM ${store.tables.chunks(dimension)} WHERE placement = ${placement}
      ORDER BY code <~> $2::bit(${codeLength(dimension)}) LIMIT ${LIST_LENGTH}) nearest
    WHERE chunk_id <> ALL($3::uuid[])`;
}

/** The least number of candidates that holds enough of the nearest chunks. */
function candidatesOf(lists: readonly Ranked[][], limit: number): number {
  const ranks = lists
    .flatMap((list) => list.slice(0, limit).map(({ rank }) => rank))
    .sort((a, b) => a - b);
  const last = ranks[Math.ceil(ranks.length * VECTOR_CALIBRATION_RECALL) - 1] ?? 0;
  const wanted = Math.ceil((last + 1) / VECTOR_CANDIDATES_STEP) * VECTOR_CANDIDATES_STEP;
  return Math.max(VECTOR_CANDIDATES_LEAST, limit * 2, wanted);
}

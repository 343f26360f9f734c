import { Random } from "../../support/random.ts";
import type { Matrix } from "../harness/vector-files.ts";

/** In which order the rows arrive, and which of them a scope contains. */

const SEED = 7;
/** Vectors whose nearest rows count as one topic. */
const TOPICS = 64;

/** The cosine of every row and one of the rows. */
function similarities({ values, dimension, rows }: Matrix, to: number): Float64Array {
  const result = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let dot = 0;
    let squares = 0;
    for (let i = 0; i < dimension; i++) {
      const element = values[row * dimension + i] as number;
      dot += element * (values[to * dimension + i] as number);
      squares += element * element;
    }
    result[row] = dot / Math.sqrt(squares);
  }
  return result;
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

/** The topic of every row: the nearest of some random rows. */
function topicsOf(base: Matrix): Uint32Array {
  const best = new Float64Array(base.rows).fill(Number.NEGATIVE_INFINITY);
  const topics = new Uint32Array(base.rows);
  for (const [topic, pivot] of new Random(SEED).sample(upTo(base.rows), TOPICS).entries()) {
    for (const [row, similarity] of similarities(base, pivot).entries()) {
      // Not scaled by the pivot's length, which most data sets have made equal.
      if (similarity <= (best[row] as number)) continue;
      best[row] = similarity;
      topics[row] = topic;
    }
  }
  return topics;
}

/** The rows in the order in which they arrive. */
export function orderOf(base: Matrix, order: string): number[] {
  const rows = upTo(base.rows);
  if (order === "given") return rows;
  if (order === "shuffled") return new Random(SEED).sample(rows, rows.length);
  if (order !== "topics") throw new Error(`there is no order "${order}"`);
  const topics = topicsOf(base);
  return rows.sort((a, b) => (topics[a] as number) - (topics[b] as number) || a - b);
}

/** A multiplicative hash spreads the members evenly. */
const isMember = (row: number, share: number) =>
  (Math.imul(row + 1, 2654435761) >>> 0) / 2 ** 32 < share;

/** The rows of a scope: a share such as `10%`, or the `topical` half that is nearest to one row. */
export function rowsOf(base: Matrix, scope: string): number[] {
  const rows = upTo(base.rows);
  if (scope === "topical") {
    const near = similarities(base, Math.floor(base.rows / 3));
    rows.sort((a, b) => (near[b] as number) - (near[a] as number));
    return rows.slice(0, Math.ceil(base.rows / 2));
  }
  const share = Number.parseFloat(scope) / 100;
  if (!scope.endsWith("%") || !(share > 0 && share <= 1)) {
    throw new Error(`there is no scope "${scope}"`);
  }
  return share === 1 ? rows : rows.filter((row) => isMember(row, share));
}

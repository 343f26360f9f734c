import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import type { Matrix } from "../../support/vector-files.ts";

/** Scores are sums in another order in each engine, so equal ones differ by a little. */
const TOLERANCE = 1e-6;
const APPEND_ROWS = 2_000;
const GRAPH_ROWS = 1_000;
/** Appends after each of which the graph is completed and calibrated, when they come in batches. */
const BATCHES = 20;

let opened = 0;

function append(project: string, { values, dimension }: Matrix, rows: readonly number[]): void {
  for (let first = 0; first < rows.length; first += APPEND_ROWS) {
    const part = rows.slice(first, first + APPEND_ROWS);
    const vectors = new Float32Array(part.length * dimension);
    const ids = new Uint8Array(part.length * 16);
    const view = new DataView(ids.buffer);
    for (const [i, row] of part.entries()) {
      vectors.set(values.subarray(row * dimension, (row + 1) * dimension), i * dimension);
      view.setUint32(i * 16, row);
    }
    native.append(project, dimension, {
      ids,
      vectors,
      rendered: new TextEncoder().encode("{}".repeat(part.length)),
      renderedEnds: Uint32Array.from(part, (_, i) => (i + 1) * 2),
    });
  }
}

function finishGraph(project: string, dimension: number): void {
  while (native.extendGraph(project, dimension, GRAPH_ROWS) > 0);
}

/** The vectors of a data set in an index of their own. */
export class Project {
  readonly #name = `recall-${++opened}`;
  /** The ordinal of each row. */
  readonly #ordinals: Uint32Array;

  /**
   * @param order the rows in the order of their arrival
   * @param arrival `bulk` builds the graph once, `batches` after each of 20 parts
   */
  constructor(
    private readonly base: Matrix,
    order: readonly number[],
    arrival: string,
  ) {
    this.#ordinals = new Uint32Array(base.rows);
    for (const [ordinal, row] of order.entries()) this.#ordinals[row] = ordinal;
    native.openProject(this.#name);
    const size = arrival === "batches" ? Math.ceil(order.length / BATCHES) : order.length;
    for (let first = 0; first < order.length; first += size) {
      append(this.#name, base, order.slice(first, first + size));
      finishGraph(this.#name, base.dimension);
    }
  }

  setScope(scope: string, rows: readonly number[]): void {
    const ordinals = Uint32Array.from(rows, (row) => this.#ordinals[row] as number).sort();
    const ranges = Uint32Array.from({ length: ordinals.length * 2 }, (_, i) =>
      i % 2 === 0 ? (ordinals[i >> 1] as number) : 1,
    );
    native.setScope(this.#name, scope, [{ dimension: this.base.dimension, ranges }]);
  }

  /** The scores of the true best, best first. */
  exactScores(scope: string, query: Float32Array<ArrayBuffer>, limit: number): Float64Array {
    const { dimension } = this.base;
    return testing.exactSearch(this.#name, scope, query, dimension, limit, -1).scores;
  }

  /** @param plan forces a plan; without it the cheapest one is chosen */
  search(scope: string, query: Float32Array<ArrayBuffer>, limit: number, plan?: "scan" | "graph") {
    return testing.searchRaw(this.#name, scope, query, this.base.dimension, limit, -1, plan);
  }

  drop(): void {
    native.dropProject(this.#name);
  }
}

/** The share of the true best `limit` that are among the scores found. */
export function foundOf(scores: ArrayLike<number>, truth: Float64Array, limit: number): number {
  const wanted = Math.min(limit, truth.length);
  const minScore = (truth[wanted - 1] ?? 0) - TOLERANCE;
  let found = 0;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) >= minScore) found++;
  return wanted === 0 ? 1 : Math.min(found, wanted) / wanted;
}

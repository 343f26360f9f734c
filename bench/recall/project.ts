import { availableParallelism } from "node:os";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { appendRows, rangesOf } from "../harness/append-rows.ts";
import type { Matrix } from "../harness/vector-files.ts";

/** Scores are sums in another order in each engine, so equal ones differ by a little. */
const TOLERANCE = 1e-6;
/** Appends after each of which the graph is completed and calibrated, when they come in batches. */
const BATCHES = 20;

let opened = 0;

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
    threads = availableParallelism(),
  ) {
    this.#ordinals = new Uint32Array(base.rows);
    native.openProject(this.#name);
    const size = arrival === "batches" ? Math.ceil(order.length / BATCHES) : order.length;
    for (let first = 0; first < order.length; first += size) {
      const rows = order.slice(first, first + size);
      const ordinals = appendRows(this.#name, base, rows);
      for (const [i, row] of rows.entries()) this.#ordinals[row] = ordinals[i] as number;
      testing.maintainSync(this.#name, base.dimension, threads);
    }
  }

  setScope(scope: string, rows: readonly number[]): void {
    const ranges = rangesOf(Uint32Array.from(rows, (row) => this.#ordinals[row] as number));
    native.setScope(this.#name, scope, [{ dimension: this.base.dimension, ranges }]);
  }

  /** The scores of the true best, best first. */
  exactScores(scope: string, query: Float32Array<ArrayBuffer>, limit: number): Float64Array {
    const { dimension } = this.base;
    return testing.exactSearch(this.#name, scope, query, dimension, limit, -1).scores;
  }

  search(scope: string, query: Float32Array<ArrayBuffer>, limit: number) {
    return testing.searchRaw(this.#name, scope, query, this.base.dimension, limit, -1);
  }

  stats() {
    const [stats] = native.stats(this.#name)?.dimensions ?? [];
    if (stats === undefined) throw new Error("the project has no vectors");
    return stats;
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

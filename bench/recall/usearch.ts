import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Index, MetricKind, ScalarKind } from "usearch";
import { cpuMicroseconds, type Spent, spentBy, sumOf } from "../harness/process-usage.ts";
import { mean } from "../harness/statistics.ts";
import type { Matrix } from "../harness/vector-files.ts";
import { foundOf } from "./project.ts";

const EXPANSIONS = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024];
const ADD_ROWS = 5_000;
/** With this recall a larger expansion is not tried. */
const ENOUGH = 0.9995;
/** A gain of less recall than this is not worth a larger expansion. */
const SATURATION = 0.001;

interface Point {
  readonly expansion: number;
  readonly recall: number;
  readonly microseconds: number;
}

/** An empty index as all comparisons with USearch use it: bf16, M = 16, ef 128 for construction. */
export function openIndex(dimension: number, expansion: number): Index {
  return new Index({
    dimensions: dimension,
    metric: MetricKind.Cos,
    quantization: ScalarKind.BF16,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: expansion,
    multi: false,
  });
}

/** Cosines of a query and some rows. */
function scoresOf({ values, dimension }: Matrix, query: Float32Array, rows: readonly number[]) {
  const length = Math.hypot(...query);
  return rows.map((row) => {
    let dot = 0;
    let squares = 0;
    for (let i = 0; i < dimension; i++) {
      const element = values[row * dimension + i] as number;
      dot += element * (query[i] as number);
      squares += element * element;
    }
    return dot / (length * Math.sqrt(squares));
  });
}

/** USearch in bf16 over some rows, in this process: M = 16, ef 128 for construction. */
export class Baseline {
  private constructor(
    private readonly base: Matrix,
    private readonly rows: readonly number[],
    private readonly file: string,
    /** What it took to add the rows; nothing if an earlier run did. */
    readonly adding: Spent,
  ) {}

  /** Builds the index of the rows, unless the file exists from an earlier run. */
  static build(
    base: Matrix,
    rows: readonly number[],
    folder: string,
    name: string,
    threads = 2,
  ): Baseline {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${name}-${rows.length}x${base.dimension}.usearch`);
    let adding: Spent = { seconds: 0, cpu: 0 };
    if (!existsSync(file)) {
      const index = openIndex(base.dimension, EXPANSIONS[0] as number);
      for (let first = 0; first < rows.length; first += ADD_ROWS) {
        const part = rows.slice(first, first + ADD_ROWS);
        const vectors = new Float32Array(part.length * base.dimension);
        for (const [i, row] of part.entries()) {
          const start = row * base.dimension;
          vectors.set(base.values.subarray(start, start + base.dimension), i * base.dimension);
        }
        const keys = BigUint64Array.from(part, (_, i) => BigInt(first + i));
        const own = spentBy(() => index.add(keys, vectors, threads));
        adding = sumOf(adding, own);
      }
      index.save(file);
    }
    return new Baseline(base, rows, file, adding);
  }

  /** The index, to be searched with an expansion. */
  open(expansion: number): Index {
    const index = openIndex(this.base.dimension, expansion);
    index.load(this.file);
    return index;
  }

  /** Recall and cost of the queries at growing expansions. */
  curve(
    queries: readonly Float32Array<ArrayBuffer>[],
    truth: readonly Float64Array[],
    limit: number,
  ): Point[] {
    const points: Point[] = [];
    for (const expansion of EXPANSIONS) {
      const index = this.open(expansion);
      const search = (i: number) => index.search(queries[i] as Float32Array, limit, 1);
      const shares = queries.map((query, i) => {
        const rows = Array.from(search(i).keys, (key) => this.rows[Number(key)] as number);
        return foundOf(scoresOf(this.base, query, rows), truth[i] as Float64Array, limit);
      });
      const microseconds = cpuMicroseconds(queries.length, search);
      points.push({ expansion, recall: mean(shares), microseconds });
      const earlier = points.at(-3)?.recall ?? 0;
      const isFlat = expansion > limit && mean(shares) - earlier < SATURATION / 10;
      if (mean(shares) >= ENOUGH || isFlat) break;
    }
    return points;
  }
}

/**
 * A cost divided by that of the baseline at the same recall, interpolated between the points around
 * it. The rounding to bf16 keeps the baseline's recall below 1 at any expansion. When it never
 * reaches the recall, the text is `<` and the ratio at the recall that it practically ends at.
 */
export function ratioText(points: readonly Point[], recall: number, microseconds: number): string {
  const highest = Math.max(...points.map((point) => point.recall));
  const target = recall <= highest ? recall : highest - SATURATION;
  const after = points.findIndex((point) => point.recall >= target);
  const high = points[after] as Point;
  const low = points[after - 1];
  const isBetween = low !== undefined && high.recall > low.recall;
  const share = isBetween ? (target - low.recall) / (high.recall - low.recall) : 1;
  const cost = isBetween
    ? low.microseconds + share * (high.microseconds - low.microseconds)
    : high.microseconds;
  return `${recall <= highest ? "" : "<"}${(microseconds / cost).toFixed(2)}`;
}

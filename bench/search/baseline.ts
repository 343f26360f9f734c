import { temporaryFolder } from "../../support/folders.ts";
import { median } from "../harness/statistics.ts";
import { Baseline } from "../recall/usearch.ts";
import { NEIGHBOURS, type Nearest } from "./truth.ts";
import type { World } from "./world.ts";

/** USearch in bf16 in this process, without HTTP, JSON or chunks. */
export interface Tuned {
  readonly expansion: number;
  readonly recall: number;
  readonly buildSeconds: number;
  /** CPU and median milliseconds per query, on one thread. */
  measureCpu(repeats: number): { cpu: number; p50: number };
}

/** Builds an index, and finds the smallest expansion that reaches each recall, or comes nearest to it. */
export function openBaselines(
  { dimension, chunks, vectors, queries }: World,
  truth: readonly Nearest[],
  recalls: readonly number[],
): Tuned[] {
  const base = { rows: chunks, dimension, values: vectors };
  const rows = Array.from({ length: chunks }, (_, row) => row);
  const baseline = Baseline.build(base, rows, temporaryFolder("usearch"), "search");
  const points = baseline.curve(
    queries.slice(0, truth.length),
    truth.map(({ scores }) => scores),
    NEIGHBOURS,
  );
  const best = points.reduce((a, b) => (b.recall > a.recall ? b : a));
  return recalls.map((wanted) => {
    const { recall, expansion } = points.find((point) => point.recall >= wanted) ?? best;
    const index = baseline.open(expansion);
    const measureCpu = (repeats: number) => {
      const latencies = new Float64Array(repeats);
      const before = process.cpuUsage();
      for (let i = 0; i < repeats; i++) {
        const started = performance.now();
        index.search(queries[i % queries.length] as Float32Array, NEIGHBOURS, 1);
        latencies[i] = performance.now() - started;
      }
      const { user, system } = process.cpuUsage(before);
      return { cpu: (user + system) / 1_000 / repeats, p50: median(latencies) };
    };
    return { recall, expansion, buildSeconds: baseline.adding.seconds, measureCpu };
  });
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Index } from "usearch";
import { openIndex } from "../recall/usearch.ts";
import type { World } from "./world.ts";

const EXPANSIONS = [16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256];
const ADD_BATCH = 5_000;
export const NEIGHBOURS = 10;

/** USearch in bf16 in this process, without HTTP, JSON or chunks. */
export interface Baseline {
  readonly expansion: number;
  readonly recall: number;
  readonly buildSeconds: number;
  /** CPU and median milliseconds per query, on one thread. */
  measureCpu(repeats: number): { cpu: number; p50: number };
}

function load(world: World, expansion: number, file: string): Index {
  const index = openIndex(world.dimension, expansion);
  index.load(file);
  return index;
}

function recallOf(index: Index, world: World, truth: readonly Set<number>[]): number {
  let found = 0;
  for (const [i, near] of truth.entries()) {
    const { keys } = index.search(world.queries[i] as Float32Array, NEIGHBOURS, 1);
    for (const key of keys) if (near.has(Number(key))) found++;
  }
  return found / (truth.length * NEIGHBOURS);
}

/** Builds and saves the index, unless an earlier run has. Returns the seconds it took, or 0. */
function buildOnce(world: World, file: string): number {
  if (existsSync(file)) return 0;
  const { dimension, chunks } = world;
  const startedAt = performance.now();
  const index = openIndex(dimension, EXPANSIONS[0] as number);
  for (let first = 0; first < chunks; first += ADD_BATCH) {
    const count = Math.min(ADD_BATCH, chunks - first);
    const keys = BigUint64Array.from({ length: count }, (_, i) => BigInt(first + i));
    // A copy, because the binding ignores the offset of a subarray.
    const batch = world.vectors.slice(first * dimension, (first + count) * dimension);
    index.add(keys, batch, 2);
  }
  index.save(file);
  return (performance.now() - startedAt) / 1000;
}

/**
 * Builds the index, and finds the smallest expansion that reaches each recall. Where none does, it is the
 * smallest of those with the best recall.
 */
export function openBaselines(
  world: World,
  truth: readonly Set<number>[],
  recalls: readonly number[],
  folder: string,
): Baseline[] {
  const file = join(folder, `baseline-${world.chunks}-${world.dimension}.usearch`);
  const buildSeconds = buildOnce(world, file);
  return recalls.map((recall) => tune(world, truth, recall, file, buildSeconds));
}

function tune(
  world: World,
  truth: readonly Set<number>[],
  recall: number,
  file: string,
  buildSeconds: number,
): Baseline {
  let best = { recall: 0, expansion: 0 };
  for (const expansion of EXPANSIONS) {
    const reached = recallOf(load(world, expansion, file), world, truth);
    if (reached > best.recall) best = { recall: reached, expansion };
    if (reached >= recall) break;
  }
  const { queries } = world;
  const index = load(world, best.expansion, file);
  return {
    ...best,
    buildSeconds,
    measureCpu(repeats) {
      const latencies = new Float64Array(repeats);
      const before = process.cpuUsage();
      for (let i = 0; i < repeats; i++) {
        const started = performance.now();
        index.search(queries[i % queries.length] as Float32Array, NEIGHBOURS, 1);
        latencies[i] = performance.now() - started;
      }
      const spent = process.cpuUsage(before);
      latencies.sort();
      const cpu = (spent.user + spent.system) / 1000 / repeats;
      return { cpu, p50: latencies[repeats >> 1] as number };
    },
  };
}

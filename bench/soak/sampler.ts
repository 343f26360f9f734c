import { readdirSync, readFileSync } from "node:fs";
import type { BenchServer } from "../harness/server.ts";
import { mean } from "../harness/statistics.ts";
import { memoryByKind } from "./memory-kinds.ts";

interface Series {
  readonly title: string;
  readonly unit: string;
  /** The share by which the last third may exceed the middle one; null for what may vary. */
  readonly growth: number | null;
}

/** What is sampled. */
export const SERIES = {
  anonymous: { title: "anonymous memory", unit: "MiB", growth: 0.1 },
  scripts: { title: "of it JavaScript heaps and text segments", unit: "MiB", growth: 0.1 },
  heap: { title: "of these the main thread's objects in use", unit: "MiB", growth: null },
  code: { title: "compiled JavaScript", unit: "MiB", growth: 0.1 },
  arenas: { title: "heaps of native code", unit: "MiB", growth: 0.1 },
  columns: { title: "native columns and stacks", unit: "MiB", growth: null },
  resident: { title: "resident memory with mapped files", unit: "MiB", growth: 0.2 },
  handles: { title: "open handles", unit: "", growth: 0.1 },
  threads: { title: "threads", unit: "", growth: 0.1 },
  delay: { title: "event-loop delay, p99 of each sample", unit: "ms", growth: 1 },
  indexes: { title: "memory of the loaded indexes", unit: "MiB", growth: null },
  vectors: { title: "vectors of the loaded indexes", unit: "thousand", growth: null },
} as const satisfies Record<string, Series>;

export type SeriesName = keyof typeof SERIES;
export const SERIES_NAMES = Object.keys(SERIES) as SeriesName[];
export type Sample = Readonly<Record<SeriesName, number>> & { readonly minutes: number };

const MIB = 1_048_576;

function memoryOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1_024) / MIB;
}

export async function takeSample(server: BenchServer, minutes: number): Promise<Sample> {
  const { pid } = server;
  const delay = await server.metric("tessera_nodejs_eventloop_lag_p99_seconds");
  const heap = await server.metric("tessera_nodejs_heap_size_used_bytes");
  return {
    minutes,
    anonymous: memoryOf(pid, "RssAnon"),
    ...memoryByKind(pid),
    heap: heap / MIB,
    resident: memoryOf(pid, "VmRSS"),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    delay: delay * 1_000,
    indexes: (await server.metric("tessera_index_memory_bytes")) / MIB,
    vectors: (await server.metric("tessera_index_vectors")) / 1_000,
  };
}

export interface Trend {
  readonly name: SeriesName;
  /** The means of the middle and the last third; the first third is for warming up. */
  readonly middle: number;
  readonly last: number;
  readonly isFlat: boolean;
}

export function trendsOf(samples: readonly Sample[]): Trend[] {
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  return SERIES_NAMES.map((name) => {
    const of = (samples: readonly Sample[]) => mean(samples.map((sample) => sample[name]));
    const [before, after] = [of(middle), of(last)];
    const { growth }: Series = SERIES[name];
    const isFlat = growth === null || after <= before * (1 + growth);
    return { name, middle: before, last: after, isFlat };
  });
}

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Index } from "usearch";
import { temporaryFolder } from "../../support/folders.ts";
import { openIndex } from "../recall/usearch.ts";
import type { Peer } from "./peer.ts";

const BUILD_THREADS = 2;

/** Raw USearch in this process. A search blocks its thread, so one runs at a time. */
export function usearch(): Peer {
  const file = join(temporaryFolder("usearch"), "index.usearch");
  let dimensions = 0;
  let index: Index;
  return {
    name: "usearch bf16, in process",
    efforts: [16, 32, 64, 128, 256, 512],
    async load({ rows, dimension, values }) {
      dimensions = dimension;
      index = openIndex(dimension, 64);
      const keys = BigUint64Array.from({ length: rows }, (_, i) => BigInt(i));
      index.add(keys, values, BUILD_THREADS);
      index.save(file);
    },
    async use(effort) {
      index = openIndex(dimensions, effort);
      index.load(file);
    },
    search: (query, limit) => Array.from(index.search(query, limit, 1).keys, Number),
    cpuSeconds: ownCpuSeconds,
    bytes: () => statSync(file).size,
  };
}

/** CPU seconds of this process so far. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

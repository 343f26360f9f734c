import { cpuSeconds } from "../process-usage.ts";
import type { Address } from "../server.ts";
import { median } from "../statistics.ts";
import { sendAll } from "./streams.ts";

const WARM_UP_MAX_SECONDS = 1;

/** Throughput of a server over some time. */
export interface Throughput {
  readonly requestsPerSecond: number;
  /** CPU time of the server's process per request, user and system, in microseconds. */
  readonly serverMicroseconds: number;
}

export interface Target extends Address {
  /** Makes each request. */
  readonly next: () => Uint8Array;
}

/** Sends requests over `clients` connections in this process, at least one over each. */
async function measure(target: Target, clients: number, seconds: number): Promise<Throughput> {
  let count = 0;
  const cpu = cpuSeconds(target.pid);
  const started = performance.now();
  const plan = { arrival: { kind: "closed", clients }, seconds } as const;
  await sendAll(target.url, plan, target.next, (_intended, _sent, _ended, ending) => {
    if (ending !== 200) throw new Error(`${target.url} answered with ${ending}`);
    count++;
  });
  return {
    requestsPerSecond: count / ((performance.now() - started) / 1_000),
    serverMicroseconds: ((cpuSeconds(target.pid) - cpu) / count) * 1e6,
  };
}

/**
 * Measures targets in turns, so that noise of the machine affects all of them alike. Returns the
 * measurements of each target by round.
 */
export async function measureInTurns(
  targets: readonly Target[],
  options: { readonly connections: number; readonly seconds: number; readonly rounds: number },
): Promise<Throughput[][]> {
  const { connections, seconds, rounds } = options;
  for (const target of targets) {
    await measure(target, connections, Math.min(seconds, WARM_UP_MAX_SECONDS));
  }
  const results: Throughput[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < targets.length; turn++) {
      const index = (turn + round) % targets.length;
      results[index]?.push(await measure(targets[index] as Target, connections, seconds));
    }
  }
  return results;
}

/** Median of the ratios of two targets' throughput in the same round. */
export function throughputRatio(
  runs: readonly Throughput[],
  baseline: readonly Throughput[],
): number {
  return median(
    runs.map(({ requestsPerSecond }, round) => {
      return requestsPerSecond / (baseline[round]?.requestsPerSecond ?? Number.NaN);
    }),
  );
}

import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { exchange } from "./connection.ts";
import type { LoadOrder, LoadResult } from "./load-process.ts";
import { cpuSeconds } from "./process-usage.ts";
import type { Address } from "./server.ts";
import { median, quantile } from "./statistics.ts";

const WARM_UP_MAX_MS = 1_000;

/** Throughput of a server over some time. */
export interface Throughput {
  readonly requestsPerSecond: number;
  /** CPU time of the server's process per request, user and system, in microseconds. */
  readonly serverMicroseconds: number;
}

export interface Target {
  readonly url: string;
  readonly pid: number;
  /** Makes each request. */
  readonly next: () => string;
}

/** The same GET request again and again. */
export function getRequests(
  path: string,
  headers: Readonly<Record<string, string>> = {},
): () => string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join("")}\r\n`;
  return () => request;
}

/** Sends requests over `connections` connections for `milliseconds`, at least so many requests. */
async function measureThroughput(
  target: Target,
  connections: number,
  milliseconds: number,
): Promise<Throughput> {
  const { hostname, port } = new URL(target.url);
  let [sent, count] = [0, 0];
  const cpu = cpuSeconds(target.pid);
  const started = performance.now();
  const next = () => {
    if (sent >= connections && performance.now() - started >= milliseconds) return undefined;
    sent++;
    return target.next();
  };
  const onAnswer = () => count++;
  const connect = () => exchange({ hostname, port: Number(port), next, onAnswer });
  await Promise.all(Array.from({ length: connections }, connect));
  const seconds = (performance.now() - started) / 1_000;
  return {
    requestsPerSecond: count / seconds,
    serverMicroseconds: ((cpuSeconds(target.pid) - cpu) / count) * 1e6,
  };
}

/** Latencies are in milliseconds. */
export interface Latencies {
  readonly qps: number;
  readonly p50: number;
  readonly p99: number;
  /** Server CPU milliseconds per request. */
  readonly cpu: number;
  /** Of each request; those of a single client are in the order in which it sent them. */
  readonly times: Float64Array;
}

/** Clients in a separate process, started once so that its compilation is not measured. */
export class LoadGenerator {
  #resolve: (result: LoadResult) => void = () => {};
  readonly #child: Bun.Subprocess;

  constructor() {
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "load-process.ts")], {
      ipc: (message) => this.#resolve(message as LoadResult),
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit"],
    });
    onCleanup(() => this.#child.kill());
  }

  /** Sends so many requests, taking the payloads in turn. */
  async run(
    server: Address,
    clients: number,
    requests: number,
    payloads: readonly Uint8Array[],
  ): Promise<Latencies> {
    const { hostname, port } = server.url;
    const order: LoadOrder = { hostname, port: Number(port), clients, requests, payloads };
    const before = cpuSeconds(server.pid);
    const { promise, resolve, reject } = Promise.withResolvers<LoadResult>();
    this.#resolve = resolve;
    void this.#child.exited.then(() => reject(new Error("the load generator has ended")));
    this.#child.send(order);
    const { seconds, latencies } = await promise;
    const cpu = ((cpuSeconds(server.pid) - before) * 1000) / requests;
    const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    return { qps: requests / seconds, p50, p99, cpu, times: latencies };
  }
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
  const warmUpMs = Math.min(seconds * 1_000, WARM_UP_MAX_MS);
  for (const target of targets) await measureThroughput(target, connections, warmUpMs);
  const results: Throughput[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < targets.length; turn++) {
      const index = (turn + round) % targets.length;
      const target = targets[index] as Target;
      results[index]?.push(await measureThroughput(target, connections, seconds * 1_000));
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

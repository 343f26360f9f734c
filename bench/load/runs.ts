import type { Arrival } from "../harness/load/loops.ts";
import { inTurn, sendAll } from "../harness/load/streams.ts";
import type { Form } from "../harness/requests.ts";
import { metricOf } from "../harness/server.ts";
import type { Matrix } from "../harness/vector-files.ts";
import { progress } from "./progress.ts";
import { rawRequests } from "./queries.ts";
import { type Recorded, Recorder } from "./recorder.ts";
import type { Service } from "./service.ts";

/** One measurement: a way of arrival, at one limit, for some time. */
export interface LoadRun extends Recorded {
  readonly arrival: Arrival;
  readonly limit: number;
  readonly seconds: number;
  /** CPU of the service's process within the window per answer that came in it, in milliseconds; null where /metrics is not reachable. */
  readonly serverCpuMs: number | null;
  /** CPU that this process used, in cores. Near 1, it is the load generator that is measured. */
  readonly generatorCores: number;
}

/** What all runs have in common. */
export interface RunOptions {
  readonly service: Service;
  readonly queries: Matrix;
  readonly form: Form;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly timeoutMs: number;
}

export function describeArrival(arrival: Arrival): string {
  return arrival.kind === "closed"
    ? `closed, ${arrival.clients} ${arrival.clients === 1 ? "client" : "clients"}`
    : `open, ${arrival.rate}/s`;
}

/** CPU seconds of the service's process so far, from its own metrics; null where they cannot be read. */
async function serverCpu(service: Service): Promise<number | null> {
  return metricOf(await service.metrics(), "tessera_process_cpu_seconds_total");
}

const TICK_MS = 100;

export async function measure(
  options: RunOptions,
  arrival: Arrival,
  limit: number,
): Promise<LoadRun> {
  const { service, queries, form, seconds, warmUpSeconds, timeoutMs } = options;
  const name = `${describeArrival(arrival)}, limit ${limit}`;
  const format = `${name} {bar} {value} of {total} s | {answered} answers`;
  const bar = progress(format, warmUpSeconds + seconds, { answered: 0 });
  const requests = rawRequests(service, queries, limit, form);
  const start = performance.now();
  const from = start + warmUpSeconds * 1_000;
  const recorder = new Recorder(from, from + seconds * 1_000);
  const timer = setInterval(() => {
    const elapsed = Math.floor((performance.now() - start) / 1_000);
    bar.update(elapsed, { answered: recorder.answered });
  }, TICK_MS);
  const usageAfter = async (wait: number) => {
    await Bun.sleep(wait * 1_000);
    return { own: process.cpuUsage(), server: await serverCpu(service) };
  };
  const plan = { arrival, seconds: warmUpSeconds + seconds, timeoutMs };
  const [before, after] = await Promise.all([
    usageAfter(warmUpSeconds),
    usageAfter(warmUpSeconds + seconds),
    sendAll(service.url, plan, inTurn(requests), recorder.add.bind(recorder)),
  ]);
  clearInterval(timer);
  bar.stop();
  const recorded = recorder.result();
  const spent =
    before.server === null || after.server === null || recorded.came === 0
      ? null
      : ((after.server - before.server) * 1_000) / recorded.came;
  const own = (usage: NodeJS.CpuUsage) => (usage.user + usage.system) / 1e6;
  return {
    ...recorded,
    arrival,
    limit,
    seconds,
    serverCpuMs: spent,
    generatorCores: (own(after.own) - own(before.own)) / seconds,
  };
}

/** Shares of the capacity that `--sweep auto` tries. */
const SWEEP_SHARES = [0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.1];

/** Rates for a sweep: those that are given, or shares of what a closed loop has reached. */
export function sweepRates(sweep: readonly number[] | "auto", capacity: number): number[] {
  if (sweep !== "auto") return [...sweep];
  return SWEEP_SHARES.map((share) => Math.max(1, Math.round(capacity * share)));
}

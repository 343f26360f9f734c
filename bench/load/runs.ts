import type { Matrix } from "../harness/vector-files.ts";
import { type Arrival, runLoad } from "./loops.ts";
import { progress } from "./progress.ts";
import { type Form, rawRequests } from "./queries.ts";
import type { Recorded } from "./recorder.ts";
import { ServerFigures } from "./server-figures.ts";
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

const coresOf = ({ user, system }: NodeJS.CpuUsage, seconds: number) =>
  (user + system) / 1e6 / seconds;

export async function measure(
  options: RunOptions,
  arrival: Arrival,
  limit: number,
): Promise<LoadRun> {
  const { service, queries, form, seconds, warmUpSeconds, timeoutMs } = options;
  const name = `${describeArrival(arrival)}, limit ${limit}`;
  const format = `${name} {bar} {value} of {total} s | {answered} answers`;
  const bar = progress(format, warmUpSeconds + seconds, { answered: 0 });
  const figures = new ServerFigures(service);
  let cpu = process.cpuUsage();
  const recorded = await runLoad({
    url: service.url,
    requests: rawRequests(service, queries, limit, form),
    arrival,
    seconds,
    warmUpSeconds,
    timeoutMs,
    onTick: (elapsed, answered) => bar.update(Math.floor(elapsed), { answered }),
    onEdge: async (edge) => {
      cpu = edge === "begin" ? process.cpuUsage() : process.cpuUsage(cpu);
      await figures.note(edge);
    },
  });
  bar.stop();
  return {
    ...recorded,
    arrival,
    limit,
    seconds,
    serverCpuMs: figures.cpuMillisecondsPer(recorded.came),
    generatorCores: coresOf(cpu, seconds),
  };
}

/** Shares of the capacity that `--sweep auto` tries. */
const SWEEP_SHARES = [0.1, 0.25, 0.5, 0.7, 0.85, 0.95, 1.1];

/** Rates for a sweep: those that are given, or shares of what a closed loop has reached. */
export function sweepRates(sweep: readonly number[] | "auto", capacity: number): number[] {
  if (sweep !== "auto") return [...sweep];
  return SWEEP_SHARES.map((share) => Math.max(1, Math.round(capacity * share)));
}

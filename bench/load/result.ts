import { tableOf } from "../../src/cli/output.ts";
import { GOOD_MS } from "./recorder.ts";
import { describeArrival, type LoadRun } from "./runs.ts";
import type { Recall } from "./truth.ts";

/** Everything that a load test has found; `--json` prints it. */
export interface LoadResult {
  readonly startedAt: string;
  /** What was searched, as the report shows it. Never has a key. */
  readonly target: {
    readonly url: string;
    readonly project: string;
    readonly scope: string;
    readonly dimension: number;
    readonly vectors: number | null;
    /** Memory of the index per vector, in bytes. */
    readonly bytesPerVector: number | null;
    readonly queries: number;
    /** Where the queries are from. */
    readonly queriesFrom: string;
    readonly body: string;
  };
  readonly recall: readonly Recall[];
  /** What recall was compared with; null when it was not measured. */
  readonly truth: string | null;
  readonly runs: readonly LoadRun[];
}

/** Above this share of a core the load generator may be what limits the throughput. */
const BUSY_GENERATOR = 0.85;

const fixed = (value: number | null, digits: number) => value?.toFixed(digits) ?? "-";

export function errorText(errors: Readonly<Record<string, number>>): string {
  const parts = Object.entries(errors).map(([status, count]) => `${count} x ${status}`);
  return parts.length === 0 ? "0" : parts.join(", ");
}

export const RUN_COLUMNS = [
  "arrival",
  "limit",
  "answers/s",
  "in 1 s/s",
  "left",
  "p50 ms",
  "p90",
  "p99",
  "p99.9",
  "max",
  "errors",
  "CPU ms/query",
] as const;

export function runCells(run: LoadRun): string[] {
  const { p50, p90, p99, p99_9, max } = run.response;
  return [
    describeArrival(run.arrival),
    String(run.limit),
    run.throughput.toFixed(1),
    run.goodput.toFixed(1),
    String(run.backlog),
    ...[p50, p90, p99, p99_9, max].map((value) => value.toFixed(2)),
    errorText(run.errors),
    fixed(run.serverCpuMs, 3),
  ];
}

export function recallText({ limit, recall, queries, plans }: Recall): string {
  const shares = Object.entries(plans).map(([plan, count]) => {
    return `${plan} ${Math.round((100 * count) / queries)}%`;
  });
  return `recall@${limit} ${fixed(recall, 4)} (${queries} queries; plan: ${shares.join(", ")})`;
}

/** What a reader should doubt about the figures, one sentence each. */
export function warnings({ runs }: LoadResult): string[] {
  const lines: string[] = [];
  if (runs.some((run) => run.generatorCores > BUSY_GENERATOR)) {
    lines.push(
      "The load generator used most of a core: it may be the limit, not the service. Use --body octets, or several generators.",
    );
  }
  for (const run of runs) {
    if (run.arrival.kind === "open" && run.goodput < run.arrival.rate * 0.95) {
      const good = `${run.goodput.toFixed(1)} of ${run.arrival.rate} requests per second`;
      const left = `${run.backlog} were without an answer at the end`;
      lines.push(
        `${good} were answered within ${GOOD_MS} ms, ${left}: the rate is above the capacity.`,
      );
    }
  }
  return lines;
}

/** The result as text for a terminal. */
export function formatResult(result: LoadResult): string {
  const { target, recall, truth, runs } = result;
  const size = target.vectors === null ? "" : `${target.vectors} vectors of ${target.dimension}, `;
  const memory = target.bytesPerVector;
  const lines = [
    `${target.url}, ${target.project}, ${target.scope}: ${size}${target.queries} queries ${target.queriesFrom}, bodies as ${target.body}`,
    ...(memory === null ? [] : [`index memory: ${memory.toFixed(0)} bytes per vector`]),
    ...(truth === null ? [] : [`recall is measured against ${truth}`]),
    ...recall.map(recallText),
    "",
    tableOf(
      runs.map(runCells),
      RUN_COLUMNS.map((title, i) => [title, (cells) => cells[i] ?? ""]),
    ).trimEnd(),
    "",
    "Latency counts from the intended start of each request: in an open loop, waiting for a free",
    "connection is part of it. A closed loop sends less while the service is slow, so its percentiles",
    'omit what others would have waited. answers/s counts what came within the window, "in 1 s/s" what',
    'came within a second, and "left" what was without an answer at its end. Errors are requests without',
    "an answer of 200, by status.",
    ...warnings(result).map((line) => `warning: ${line}`),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * The cost of answers as a project grows. For each number of documents: microseconds of CPU per request of each kind,
 * with one client; the time of a full build and of a start from the snapshot; and the memory per chunk.
 *
 *   bun bench/growth/run.ts [--folder FOLDER] [--documents 4400,44000,441000] [--requests 2000] [--rounds 3]
 *                           [--plot FILE] [--results FILE]
 *
 * The documents are made of those of the folder, with embeddings by feature hashing (768 dimensions). `--plot` writes the
 * costs as SVG, `--results` all figures as JSON.
 */
import { rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import { residentBytes } from "../harness/process-usage.ts";
import type { BenchServer } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import { secondsSince } from "../harness/table.ts";
import { writesOf } from "../knowledge/half-load.ts";
import { fillServer, OPERATIONS, requestsOf } from "../knowledge/modes.ts";
import { logarithmic, plot, short, standalone, X_RANGE, Y_RANGE } from "../load/svg.ts";
import { untilGraphed } from "../search/world.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: "4400,44000,441000",
  requests: 2_000,
  rounds: 3,
  plot: "",
  results: "",
};
type Options = typeof OPTIONS;

const KINDS = [...OPERATIONS, "PUT"] as const;
type Kind = (typeof KINDS)[number];

/** The figures of one size. */
interface Size {
  readonly documents: number;
  readonly chunks: number;
  /** Load average of the machine before the measurement. */
  readonly machineLoad: number;
  /** CPU per request. */
  readonly microseconds: Readonly<Record<Kind, number>>;
  readonly buildSeconds: number;
  readonly startSeconds: number;
  readonly residentBytesPerChunk: number;
  readonly mappedBytesPerChunk: number;
}

async function costsOf(
  { requests, rounds }: Options,
  server: BenchServer,
  payloads: Readonly<Record<Kind, readonly Uint8Array[]>>,
): Promise<Record<Kind, number>> {
  const load = new Load();
  const costs = {} as Record<Kind, number>;
  for (const kind of KINDS) {
    const runs: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const { cpu } = await load.measure(server, 1, requests, payloads[kind]);
      // The first round compiles the code and fills the caches.
      if (round > 0) runs.push(cpu * 1_000);
    }
    costs[kind] = median(runs);
  }
  return costs;
}

async function sizeOf(options: Options, context: BenchContext, documents: number): Promise<Size> {
  const { dataDir, env, sql } = await context.openDatabase();
  const machineLoad = loadavg()[0] as number;
  const filled = await context.startServer(env);
  const { key, queries } = await fillServer(filled, sql, { ...options, documents });
  const [row] = await sql<{ chunks: number }[]>`SELECT count(*)::int AS chunks FROM chunks`;
  const chunks = row?.chunks ?? 0;
  await filled.stop();
  // A server without snapshots builds everything.
  rmSync(join(dataDir, "index"), { recursive: true });
  await sql`DELETE FROM index_state`;
  const startedAt = performance.now();
  const built = await context.startServer(env);
  await untilGraphed(sql, chunks);
  const buildSeconds = secondsSince(startedAt);
  await built.stop();
  const server = await context.startServer(env);
  await untilGraphed(sql, chunks);
  const asked = { server, key, queries, documents };
  const payloads = { ...requestsOf(asked), PUT: writesOf(asked) };
  const microseconds = await costsOf(options, server, payloads);
  const { anonymous, mapped } = residentBytes(server.pid);
  await server.stop();
  return {
    documents,
    chunks,
    machineLoad,
    microseconds,
    buildSeconds,
    startSeconds: server.startSeconds,
    residentBytesPerChunk: (anonymous + mapped) / chunks,
    mappedBytesPerChunk: mapped / chunks,
  };
}

function plotOf(sizes: readonly Size[]): string {
  const series = KINDS.map((name) => ({
    name,
    points: sizes.map(({ chunks, microseconds }) => {
      const cost = microseconds[name];
      return { x: chunks, y: cost, text: `${short(cost)} us among ${chunks} chunks` };
    }),
  }));
  const costs = series.flatMap(({ points }) => points.map(({ y }) => y));
  const spanOf = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;
  const x = logarithmic(spanOf(sizes.map(({ chunks }) => chunks)), X_RANGE);
  const y = logarithmic(spanOf(costs), Y_RANGE);
  return plot(
    "Cost of an answer by the number of chunks",
    { label: "chunks", scale: x },
    { label: "CPU per answer, us", scale: y },
    series,
  );
}

export async function run(options: Options, context: BenchContext): Promise<readonly Size[]> {
  const { out } = context;
  const sizes: Size[] = [];
  for (const documents of options.documents.split(",").map(Number)) {
    sizes.push(await sizeOf(options, context, documents));
  }
  out.head("chunks", ...sizes.map(({ chunks }) => String(chunks)));
  const row = (name: string, of: (size: Size) => number, digits = 0) =>
    out.row(name, ...sizes.map((size) => of(size).toFixed(digits)));
  for (const kind of KINDS) row(`${kind}, us`, ({ microseconds }) => microseconds[kind]);
  row("full build, s", ({ buildSeconds }) => buildSeconds, 1);
  row("start from the snapshot, s", ({ startSeconds }) => startSeconds, 2);
  row("resident bytes per chunk", ({ residentBytesPerChunk }) => residentBytesPerChunk);
  row("of these mapped files", ({ mappedBytesPerChunk }) => mappedBytesPerChunk);
  row("load of the machine", ({ machineLoad }) => machineLoad, 1);
  if (options.plot !== "") writeFileSync(options.plot, standalone(plotOf(sizes)));
  if (options.results !== "") writeFileSync(options.results, `${JSON.stringify(sizes, null, 2)}\n`);
  return sizes;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

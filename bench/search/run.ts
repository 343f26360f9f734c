/**
 * Vector search over HTTP against raw USearch in process: the same vectors, the same recall, the
 * same run.
 *
 *   bun bench/search/run.ts [--chunks 50000] [--dimension 1536] [--queries 2000] [--rounds 3]
 *                           [--requests 10000] [--data DIR] [--quick]
 *
 * Prints recall@10 in every scope, server CPU per query with 16 clients, the latency of one client,
 * and the cost of building, memory and starting. `--data` keeps the database for the next run,
 * `--quick` compares only CPU and latency.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BenchContext, runBenchmark } from "../../support/bench/context.ts";
import { type Latencies, LoadGenerator } from "../../support/bench/load.ts";
import { type BenchServer, postRequest } from "../../support/bench/server.ts";
import { mebibytes, type Output, secondsSince } from "../../support/bench/table.ts";
import { median } from "../../support/statistics.ts";
import { type Baseline, openBaselines } from "./baseline.ts";
import { trueNeighbours } from "./truth.ts";
import {
  chunkId,
  makeWorld,
  SHARES,
  searchPath,
  untilGraphed,
  type World,
  writeWorld,
} from "./world.ts";

export const OPTIONS = {
  chunks: 50_000,
  dimension: 1_536,
  queries: 2_000,
  requests: 10_000,
  rounds: 3,
  data: "",
  quick: false,
};
type Options = typeof OPTIONS;

const CLIENTS = 16;
/** The recall at which engines are usually compared; the other baseline has the server's own. */
const COMMON_RECALL = 0.98;
const RECALL_QUERIES = 200;
const ONE_CLIENT_REQUESTS = 2_000;
const PAYLOADS = 500;
const BASELINE_QUERIES = 2_000;

type Form = "JSON array" | "base64" | "octets";

function payloads(server: BenchServer, world: World, share: number, form: Form): Uint8Array[] {
  const { dimension, apiKey } = world;
  const path = searchPath(share);
  return world.queries.slice(0, PAYLOADS).map((vector) => {
    const bytes = Buffer.from(vector.buffer);
    if (form === "octets") {
      const target = `${path}?dimension=${dimension}&threshold=0`;
      return postRequest(server, target, apiKey, bytes, "application/octet-stream");
    }
    const value = form === "base64" ? bytes.toString("base64") : Array.from(vector);
    const body = JSON.stringify({ vector: value, dimension, threshold: 0 });
    return postRequest(server, path, apiKey, body);
  });
}

interface Hit {
  chunk: { id: string };
}

/** Recall of the answers over HTTP, and how many had fewer results than the truth. */
async function httpRecall(server: BenchServer, world: World, share: number, truth: Set<number>[]) {
  let found = 0;
  let short = 0;
  for (const [i, near] of truth.entries()) {
    const ids = new Set([...near].map(chunkId));
    const response = await fetch(new URL(searchPath(share), server.url), {
      method: "POST",
      headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
      body: JSON.stringify({
        vector: Array.from(world.queries[i] as Float32Array),
        dimension: world.dimension,
        threshold: 0,
      }),
    });
    const { data } = (await response.json()) as { data: Hit[] };
    if (data.length < near.size) short++;
    for (const hit of data) if (ids.has(hit.chunk.id)) found++;
  }
  const wanted = truth.reduce((sum, near) => sum + near.size, 0);
  return { recall: found / wanted, short };
}

/** Measurements by the name of their row. */
type Rows<T> = Map<string, T[]>;

function baselineRow(out: Output, name: string, runs: { cpu: number; p50: number }[]): void {
  const cpu = median(runs.map((run) => run.cpu));
  out.row(name, cpu.toFixed(3), "", "", "", "", median(runs.map((run) => run.p50)).toFixed(3));
}

function serverRow(
  out: Output,
  name: string,
  many: Latencies[],
  one: Latencies[],
  raw: number[],
): void {
  const of = (read: (m: Latencies) => number, list = many) => median(list.map(read));
  const cpu = of((m) => m.cpu);
  const ratios = raw.map((baseline) => (cpu / baseline).toFixed(2)).join(" / ");
  out.row(
    name,
    cpu.toFixed(3),
    ratios,
    of((m) => m.qps).toFixed(0),
    of((m) => m.p50).toFixed(2),
    of((m) => m.p99).toFixed(2),
    of((m) => m.p50, one).toFixed(3),
  );
}

/** What is measured, and on what. */
interface Bench {
  readonly out: Output;
  readonly options: Options;
  readonly world: World;
  readonly server: BenchServer;
  readonly load: LoadGenerator;
}

async function compare(bench: Bench, baselines: readonly Baseline[]) {
  const { out, options, world, server, load } = bench;
  const { requests } = options;
  const forms: Form[] = options.quick ? ["JSON array"] : ["JSON array", "base64", "octets"];
  const bodies = new Map(forms.map((form) => [form, payloads(server, world, 1, form)]));
  for (const list of bodies.values()) await load.run(server, CLIENTS, requests / 4, list);
  const raw: Rows<{ cpu: number; p50: number }> = new Map();
  const many: Rows<Latencies> = new Map();
  const one: Rows<Latencies> = new Map();
  const add = <T>(rows: Rows<T>, name: string, value: T) =>
    rows.set(name, [...(rows.get(name) ?? []), value]);
  // Baselines and server take turns, so that noise of the machine affects all alike.
  for (let round = 0; round < options.rounds; round++) {
    for (const form of forms) {
      const list = bodies.get(form) as Uint8Array[];
      for (const baseline of baselines) {
        const name = `usearch bf16 in process, recall ${baseline.recall.toFixed(3)}`;
        add(raw, name, baseline.measureCpu(Math.min(BASELINE_QUERIES, requests)));
      }
      add(many, form, await load.run(server, CLIENTS, requests, list));
      add(one, form, await load.run(server, 1, Math.min(ONE_CLIENT_REQUESTS, requests), list));
    }
  }
  out.head("", "CPU ms per query", "ratio", "qps", "p50 ms", "p99 ms", "1 client p50 ms");
  for (const [name, runs] of raw) baselineRow(out, name, runs);
  const cpus = [...raw.values()].map((runs) => median(runs.map((run) => run.cpu)));
  for (const form of forms) {
    serverRow(out, `server, ${form}`, many.get(form) ?? [], one.get(form) ?? [], cpus);
  }
  return { raw, many, one };
}

/** Recall of one scope over HTTP, and what its searches cost. */
interface ScopeFigures {
  readonly share: number;
  readonly recall: number;
  readonly short: number;
  readonly cpu: number;
}

async function measureScopes(bench: Bench): Promise<ScopeFigures[]> {
  const { out, options, world, server, load } = bench;
  const scopes: ScopeFigures[] = [];
  out.head("scope", "recall@10", "short answers", "CPU ms per query");
  for (const share of SHARES) {
    const near = trueNeighbours(world, share, Math.min(RECALL_QUERIES, options.queries));
    if (near[0]?.size === 0) continue;
    const { recall, short } = await httpRecall(server, world, share, near);
    const list = payloads(server, world, share, "JSON array");
    const { cpu } = await load.run(server, CLIENTS, options.requests / 4, list);
    out.row(`${share * 100}%`, recall.toFixed(4), short, cpu.toFixed(3));
    scopes.push({ share, recall, short, cpu });
  }
  return scopes;
}

function openPrintedBaselines(
  out: Output,
  world: World,
  truth: readonly Set<number>[],
  serverRecall: number,
  folder: string,
): Baseline[] {
  const baselines = openBaselines(world, truth, [COMMON_RECALL, serverRecall], folder);
  for (const { recall, expansion, buildSeconds } of baselines) {
    out.line(
      `usearch bf16: recall@10 ${recall.toFixed(4)} at expansion ${expansion}, ` +
        `built in ${buildSeconds.toFixed(1)} s with 2 threads`,
    );
  }
  return baselines;
}

/** What a server that has built its index from the database costs, before and after a restart. */
async function measureCosts(
  { out, options, world, server: built }: Bench,
  restart: () => Promise<BenchServer>,
  seconds: { readonly write: number; readonly graphed: number },
) {
  const { chunks } = options;
  const indexBytes = await built.metric("tessera_index_memory_bytes");
  const bytes = built.anonymousBytes();
  await built.stop();
  const restarted = await restart();
  out.head("", "value");
  if (seconds.write > 0)
    out.row("written to PostgreSQL, chunks/s", (chunks / seconds.write).toFixed(0));
  out.row("from the database to searchable, s", built.startSeconds.toFixed(1));
  out.row("from the database to the whole graph, s", seconds.graphed.toFixed(1));
  out.row("index build, chunks/s", (chunks / seconds.graphed).toFixed(0));
  out.row("index memory, bytes per chunk", (indexBytes / chunks).toFixed(0));
  out.row("anonymous memory of the process, MiB", mebibytes(bytes));
  out.row("the same after a start from the snapshot, MiB", mebibytes(restarted.anonymousBytes()));
  out.row("start from the snapshot, s", restarted.startSeconds.toFixed(2));
  const truth = trueNeighbours(world, 1, Math.min(RECALL_QUERIES, options.queries));
  const { recall } = await httpRecall(restarted, world, 1, truth);
  return { indexBytes, restartedRecall: recall };
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const { dataDir, env, sql } = await context.openDatabase(options.data || undefined);
  const { chunks, queries, dimension } = options;
  const world = makeWorld(chunks, queries, dimension);
  out.line(`${chunks} chunks x ${dimension}, ${CLIENTS} clients, data in ${dataDir}`);
  const write = await writeWorld(sql, world);
  const index = join(dataDir, "index");
  if (!options.quick) rmSync(index, { recursive: true, force: true });
  const isFresh = !existsSync(index) || readdirSync(index).length === 0;
  const startedAt = performance.now();
  const server = await context.startServer(env);
  await untilGraphed(sql, chunks);
  const graphed = secondsSince(startedAt);

  const truth = trueNeighbours(world, 1, Math.min(RECALL_QUERIES, queries));
  const { recall } = await httpRecall(server, world, 1, truth);
  out.line(`server: recall@10 ${recall.toFixed(4)}`);
  const baselines = openPrintedBaselines(out, world, truth, recall, dataDir);
  const bench: Bench = { out, options, world, server, load: new LoadGenerator() };
  const scopes = options.quick ? [] : await measureScopes(bench);
  const compared = await compare(bench, baselines);
  const restart = () => context.startServer(env);
  const costs = isFresh ? await measureCosts(bench, restart, { write, graphed }) : undefined;
  return { recall, baselines, scopes, compared, costs };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * Vector search over HTTP against raw USearch in process and against a bare HTTP server: the same
 * vectors, the same recall, the same requests, the same run.
 *
 *   bun bench/search/run.ts [--chunks 50000] [--dimension 1536] [--queries 2000] [--rounds 3]
 *                           [--requests 10000] [--kind clusters] [--base FILE --asked FILE]
 *                           [--quick]
 *
 * Prints recall@10 in every scope, server CPU per query with 16 clients, the latency with 16 clients
 * and with one, and the cost of building, memory and starting. `--kind` is clusters, text, uniform,
 * duplicates or sparse; `--base` and `--asked` read vectors and queries from files instead. `--quick`
 * compares only CPU and latency.
 */
import type { DataKind } from "../../support/vectors.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import { Api, jsonBody } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import { mebibytes, type Output, secondsSince } from "../harness/table.ts";
import { openBaselines, type Tuned } from "./baseline.ts";
import { type Bench, CLIENTS, compare, payloads, startBare } from "./comparison.ts";
import { answersOf, type Nearest, trueNeighbours } from "./truth.ts";
import {
  chunkOf,
  givenWorld,
  makeWorld,
  type Owned,
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
  kind: "clusters",
  base: "",
  asked: "",
  quick: false,
};
type Options = typeof OPTIONS;

/** The recall at which engines are usually compared; the other baseline has the server's own. */
const COMMON_RECALL = 0.98;
const RECALL_QUERIES = 200;

/** Recall of the answers over HTTP, and how many had fewer results than the truth. */
function httpRecall({ url }: BenchServer, world: Owned & World, share: number, truth: Nearest[]) {
  const path = searchPath(share);
  const searches = world.queries.map((query) => ({ path, body: jsonBody(query) }));
  return answersOf(new Api(url, world.apiKey), searches, truth, chunkOf);
}

type SearchBench = Bench & { readonly options: Options };

/** Recall of one scope over HTTP, and what its searches cost. */
interface ScopeFigures {
  readonly share: number;
  readonly recall: number;
  readonly short: number;
  readonly cpu: number;
}

async function measureScopes(bench: SearchBench): Promise<ScopeFigures[]> {
  const { out, options, world, server, load } = bench;
  const scopes: ScopeFigures[] = [];
  out.head("scope", "recall@10", "short answers", "CPU ms per query");
  for (const share of SHARES) {
    const near = trueNeighbours(world, share, Math.min(RECALL_QUERIES, options.queries));
    if (near[0]?.chunks.size === 0) continue;
    const { recall, short } = await httpRecall(server, world, share, near);
    const list = payloads(server, world, share, "array");
    const { cpu } = await load.measure(server, CLIENTS, options.requests / 4, list);
    out.row(`${share * 100}%`, recall.toFixed(4), short, cpu.toFixed(3));
    scopes.push({ share, recall, short, cpu });
  }
  return scopes;
}

function openPrintedBaselines(
  out: Output,
  world: World,
  truth: readonly Nearest[],
  serverRecall: number,
): Tuned[] {
  const baselines = openBaselines(world, truth, [COMMON_RECALL, serverRecall]);
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
  { out, options, world, server: built }: SearchBench,
  restart: () => Promise<BenchServer>,
  graphed: number,
) {
  const { chunks } = world;
  const indexBytes = await built.metric("tessera_index_memory_bytes");
  const bytes = built.anonymousBytes();
  await built.stop();
  const restarted = await restart();
  out.head("", "value");
  out.row("from the database to searchable, s", built.startSeconds.toFixed(1));
  out.row("from the database to the whole graph, s", graphed.toFixed(1));
  out.row("index build, chunks/s", (chunks / graphed).toFixed(0));
  out.row("index memory, bytes per chunk", (indexBytes / chunks).toFixed(0));
  out.row("anonymous memory of the process, MiB", mebibytes(bytes));
  out.row("the same after a start from the snapshot, MiB", mebibytes(restarted.anonymousBytes()));
  out.row("start from the snapshot, s", restarted.startSeconds.toFixed(2));
  const truth = trueNeighbours(world, 1, Math.min(RECALL_QUERIES, options.queries));
  const { recall } = await httpRecall(restarted, world, 1, truth);
  return { indexBytes, restartedRecall: recall };
}

function worldOf({ base, asked, chunks, queries, dimension, kind }: Options): World {
  if (base === "") return makeWorld(chunks, queries, dimension, kind as DataKind);
  if (asked === "") throw new Error("--base needs --asked");
  return givenWorld(base, asked, queries, dimension);
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const { env, sql } = await context.openDatabase();
  const { queries, quick } = options;
  const world = await writeWorld(sql, worldOf(options));
  const { chunks } = world;
  out.line(`${options.base || options.kind}: ${chunks} x ${world.dimension}, ${CLIENTS} clients`);
  const startedAt = performance.now();
  const server = await context.startServer(env);
  await untilGraphed(sql, chunks);
  const graphed = secondsSince(startedAt);

  const truth = trueNeighbours(world, 1, Math.min(RECALL_QUERIES, queries));
  const { recall } = await httpRecall(server, world, 1, truth);
  out.line(`server: recall@10 ${recall.toFixed(4)}`);
  const baselines = openPrintedBaselines(out, world, truth, recall);
  const bench: SearchBench = { out, options, world, server, load: new Load() };
  const scopes = quick ? [] : await measureScopes(bench);
  const compared = await compare(bench, baselines, await startBare(bench, context));
  const restart = () => context.startServer(env);
  const costs = quick ? undefined : await measureCosts(bench, restart, graphed);
  return { recall, baselines, scopes, compared, costs };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * Vector search over HTTP against raw USearch in process: the same vectors, the same recall, the
 * same run.
 *
 *   bun bench/search/run.ts [--chunks 50000] [--dimension 1536] [--queries 2000] [--rounds 3]
 *                           [--requests 10000] [--data DIR] [--quick]
 *
 * Prints recall@10 in every scope, server CPU a query with 16 clients, the latency of one client,
 * and what building, memory and starting cost. `--data` keeps the database for the next run.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Baseline, NEIGHBOURS, openBaselines } from "./baseline.ts";
import { BenchServer, LoadGenerator, type Measured, postRequest } from "./server.ts";
import { trueNeighbours } from "./truth.ts";
import { chunkId, makeWorld, SHARES, searchPath, type World, writeWorld } from "./world.ts";

const { values: options } = parseArgs({
  options: {
    chunks: { type: "string", default: "50000" },
    dimension: { type: "string", default: "1536" },
    queries: { type: "string", default: "2000" },
    requests: { type: "string", default: "10000" },
    rounds: { type: "string", default: "3" },
    data: { type: "string" },
    /** Only the CPU and latency comparison, for work on the hot path. */
    quick: { type: "boolean", default: false },
  },
});
const CLIENTS = 16;
/** The recall at which peers are usually compared; the server's own is the other one. */
const COMMON_RECALL = 0.98;
const RECALL_QUERIES = 200;
const ONE_CLIENT_REQUESTS = 2_000;
const PAYLOADS = 500;
const BASELINE_QUERIES = 2_000;

const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
const head = (...cells: string[]) => {
  console.log();
  row(...cells);
  row(...cells.map((_, i) => (i === 0 ? "---" : "--:")));
};
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] as number;
const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);

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

/** Recall of the answers over HTTP, and how many were shorter than asked for. */
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
    if (data.length < NEIGHBOURS) short++;
    for (const hit of data) if (ids.has(hit.chunk.id)) found++;
  }
  return { recall: found / (truth.length * NEIGHBOURS), short };
}

/** Waits until no vector waits for its place in the graph. */
async function untilGraphed(sql: ReturnType<typeof openDatabase>, chunks: number): Promise<void> {
  for (;;) {
    const [state] = await sql`
      SELECT sum(vectors)::int AS vectors, sum(graphed)::int AS graphed FROM index_state
      WHERE updated_at > now() - interval '10 seconds'`;
    if (state?.["vectors"] === chunks && state["graphed"] === chunks) return;
    await Bun.sleep(250);
  }
}

/** Rows of the comparison by their name. */
type Rows<T> = Map<string, T[]>;

function baselineRow(name: string, runs: { cpu: number; p50: number }[]): void {
  const cpu = median(runs.map((run) => run.cpu));
  row(name, cpu.toFixed(3), "", "", "", "", median(runs.map((run) => run.p50)).toFixed(3));
}

function serverRow(name: string, many: Measured[], one: Measured[], raw: number[]): void {
  const of = (read: (m: Measured) => number, list = many) => median(list.map(read));
  const cpu = of((m) => m.cpu);
  const ratios = raw.map((baseline) => (cpu / baseline).toFixed(2)).join(" / ");
  row(
    name,
    cpu.toFixed(3),
    ratios,
    of((m) => m.qps).toFixed(0),
    of((m) => m.p50).toFixed(2),
    of((m) => m.p99).toFixed(2),
    of((m) => m.p50, one).toFixed(3),
  );
}

async function compare(
  server: BenchServer,
  load: LoadGenerator,
  world: World,
  baselines: readonly Baseline[],
): Promise<void> {
  const requests = Number(options.requests);
  const forms: Form[] = options.quick ? ["JSON array"] : ["JSON array", "base64", "octets"];
  const bodies = new Map(forms.map((form) => [form, payloads(server, world, 1, form)]));
  for (const list of bodies.values()) await load.run(server, CLIENTS, requests / 4, list);
  const raw: Rows<{ cpu: number; p50: number }> = new Map();
  const many: Rows<Measured> = new Map();
  const one: Rows<Measured> = new Map();
  const add = <T>(rows: Rows<T>, name: string, value: T) =>
    rows.set(name, [...(rows.get(name) ?? []), value]);
  // Baselines and server take turns, so that a noisy neighbour hits all alike.
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const form of forms) {
      const list = bodies.get(form) as Uint8Array[];
      for (const baseline of baselines) {
        const name = `usearch bf16 in process, recall ${baseline.recall.toFixed(3)}`;
        add(raw, name, baseline.measureCpu(BASELINE_QUERIES));
      }
      add(many, form, await load.run(server, CLIENTS, requests, list));
      add(one, form, await load.run(server, 1, ONE_CLIENT_REQUESTS, list));
    }
  }
  head("", "CPU ms a query", "ratio", "qps", "p50 ms", "p99 ms", "1 client p50 ms");
  for (const [name, runs] of raw) baselineRow(name, runs);
  const cpus = [...raw.values()].map((runs) => median(runs.map((run) => run.cpu)));
  for (const form of forms) {
    serverRow(`server, ${form}`, many.get(form) ?? [], one.get(form) ?? [], cpus);
  }
}

const dataDir = options.data ?? mkdtempSync(join(tmpdir(), "tessera-bench-"));
const chunks = Number(options.chunks);
const world = makeWorld(chunks, Number(options.queries), Number(options.dimension));
console.log(`${chunks} chunks x ${world.dimension}, ${CLIENTS} clients, data in ${dataDir}`);
const database = await openEmbeddedDatabase({ dataDir, log: () => {} });
const sql = openDatabase(database.url, { statementTimeoutMs: 0 });
const load = new LoadGenerator();
let server: BenchServer | undefined;
try {
  await migrate(sql);
  const writeSeconds = await writeWorld(sql, world);
  const index = join(dataDir, "index");
  if (!options.quick) rmSync(index, { recursive: true, force: true });
  const fresh = !existsSync(index) || readdirSync(index).length === 0;
  const startedAt = performance.now();
  server = await BenchServer.start(dataDir);
  const readySeconds = server.startSeconds;
  await untilGraphed(sql, chunks);
  const graphedSeconds = (performance.now() - startedAt) / 1000;

  const truth = trueNeighbours(world, 1, RECALL_QUERIES);
  const whole = await httpRecall(server, world, 1, truth);
  console.log(`server: recall@10 ${whole.recall.toFixed(4)}`);
  const recalls = [COMMON_RECALL, whole.recall];
  const baselines = openBaselines(world, truth, recalls, dataDir);
  for (const { recall, expansion, buildSeconds } of baselines) {
    console.log(
      `usearch bf16: recall@10 ${recall.toFixed(4)} at expansion ${expansion}, ` +
        `built in ${buildSeconds.toFixed(1)} s with 2 threads`,
    );
  }
  if (!options.quick) {
    head("scope", "recall@10", "short answers", "CPU ms a query");
    for (const share of SHARES) {
      const near = share === 1 ? truth : trueNeighbours(world, share, RECALL_QUERIES);
      const { recall, short } = await httpRecall(server, world, share, near);
      const list = payloads(server, world, share, "JSON array");
      const { cpu } = await load.run(server, CLIENTS, Number(options.requests) / 4, list);
      row(`${share * 100}%`, recall.toFixed(4), short, cpu.toFixed(3));
    }
  }
  await compare(server, load, world, baselines);

  if (fresh) {
    const bytes = await server.metric("tessera_index_memory_bytes");
    const rss = server.rssBytes();
    await server.stop();
    server = await BenchServer.start(dataDir);
    head("", "value");
    if (writeSeconds > 0)
      row("written to PostgreSQL, chunks/s", (chunks / writeSeconds).toFixed(0));
    row("from the database to searchable, s", readySeconds.toFixed(1));
    row("from the database to the whole graph, s", graphedSeconds.toFixed(1));
    row("index build, chunks/s", (chunks / graphedSeconds).toFixed(0));
    row("index memory, bytes a chunk", (bytes / chunks).toFixed(0));
    row("anonymous memory of the process, MB", megabytes(rss));
    row("the same after a start from the snapshot, MB", megabytes(server.rssBytes()));
    row("start from the snapshot, s", server.startSeconds.toFixed(2));
  }
} finally {
  await server?.stop();
  load.stop();
  await sql.end();
  await database.close();
  if (options.data === undefined) rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);

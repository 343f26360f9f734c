/**
 * What the death and the replacement of nodes costs searches, with many projects of very unequal sizes.
 *
 *   bun bench/nodes/failures.ts [--projects 300] [--chunks 400] [--dimension 768] [--nodes 3] [--rate 100]
 *                               [--seconds 60] [--part 10]
 *
 * Real servers on one embedded PostgreSQL behind nginx with the configuration of deploy/balancer. The sizes of
 * projects are Zipf's: the second is half as large as the first, and so on; `--chunks` is the mean. A project is
 * searched as often as its share of all chunks says, at a steady rate.
 *
 * First all projects are searched once on a node that has none in memory, from PostgreSQL and from its snapshots.
 * Then the node that holds most is killed under load, and started again. Last, each node is stopped and started in
 * turn, under the same load.
 */
import type { Sql } from "../../src/db/client.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { freePort } from "../../support/processes/ports.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { BenchServer } from "../harness/server.ts";
import { quantile } from "../harness/statistics.ts";
import { mebibytes, type Output } from "../harness/table.ts";
import { startNginx } from "./nginx.ts";
import { type Seen, SteadyLoad, searchOnce } from "./steady-load.ts";
import { untilComplete, untilSaved } from "./until.ts";
import { type BenchProject, writeProjects, zipfSizes } from "./world.ts";

export const OPTIONS = {
  projects: 300,
  chunks: 400,
  dimension: 768,
  nodes: 3,
  rate: 100,
  seconds: 60,
  part: 10,
};
type Options = typeof OPTIONS;

/** The balancer sends nothing to a node for so long after it has failed. */
const BALANCER_PAUSE_MS = 2_000;
/** PostgreSQL publishes its statistics at most this late. */
const STATISTICS_MS = 2_500;
/** Searches that were sent at the end of a part may still be under way. */
const LAST_ANSWERS_MS = 500;

interface World {
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly projects: readonly BenchProject[];
}

/** A node that can be started again at the same address with the same data. */
class Node {
  server!: BenchServer;

  private constructor(
    private readonly context: BenchContext,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start(context: BenchContext, { databaseUrl }: World): Promise<Node> {
    const node = new Node(context, {
      DATABASE_URL: databaseUrl,
      DATA_DIR: temporaryFolder("bench-node"),
      INDEX_PRELOAD: "own",
      PORT: String(await freePort()),
      SEARCH_WORKERS: "1",
    });
    await node.start();
    return node;
  }

  async start(): Promise<void> {
    this.server = await this.context.startServer(this.env);
  }
}

const vectorOf = ({ queries }: BenchProject) => queries[0] as Float32Array<ArrayBuffer>;

/** Searches each project once, one after the other; the milliseconds of each search. */
async function searchEach(url: string, { apiKey, projects }: World): Promise<number[]> {
  const times: number[] = [];
  for (const project of projects) {
    const startedAt = performance.now();
    const status = await searchOnce(url, apiKey, project, vectorOf(project));
    if (status !== 200) throw new Error(`a search got ${status}`);
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** The first searches of all projects. */
interface Load {
  readonly place: string;
  readonly times: readonly number[];
  /** Rows of chunks that PostgreSQL has read meanwhile. */
  readonly chunks: number;
}

async function chunksRead(sql: Sql): Promise<number> {
  await Bun.sleep(STATISTICS_MS);
  const [row] = await sql<{ rows: number }[]>`
    SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows
    FROM pg_stat_user_tables WHERE relname = 'chunks'`;
  return row?.rows ?? 0;
}

/** The first search of each project on a node that has none in memory, by where it finds the project. */
async function measureLoads(context: BenchContext, sql: Sql, world: World): Promise<Load[]> {
  const own = temporaryFolder("bench-node");
  const start = (folder: string, env: Readonly<Record<string, string>> = {}) =>
    context.startServer({
      ...{ DATABASE_URL: world.databaseUrl, DATA_DIR: folder, SEARCH_WORKERS: "1" },
      ...env,
    });
  await untilSaved(own, world.projects.length, () => start(own));
  context.out.head(
    ...["project found in", "first search p50, ms", "p99, ms", "max, ms", "CPU per project, ms"],
    "chunks read in PostgreSQL",
  );
  const loads: Load[] = [];
  for (const [place, folder] of [
    ["PostgreSQL", temporaryFolder("bench-node")],
    ["its snapshot", own],
  ] as const) {
    const node = await start(folder, { INDEX_PRELOAD: "none" });
    const [before, readBefore] = [node.cpuSeconds(), await chunksRead(sql)];
    const times = await searchEach(String(node.url).replace(/\/$/, ""), world);
    const cpu = ((node.cpuSeconds() - before) * 1_000) / times.length;
    const chunks = (await chunksRead(sql)) - readBefore;
    await node.stop();
    const figures = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times), cpu];
    context.out.row(place, ...figures.map((figure) => figure.toFixed(1)), chunks);
    loads.push({ place, times, chunks });
  }
  return loads;
}

async function printMemory(out: Output, nodes: readonly Node[]): Promise<void> {
  out.head("node", "projects in memory", "indexes, MiB", "process, MiB");
  for (const [i, { server }] of nodes.entries()) {
    out.row(
      `node ${i + 1}`,
      await server.metric("tessera_index_projects"),
      mebibytes(await server.metric("tessera_index_memory_bytes")),
      mebibytes(server.anonymousBytes()),
    );
  }
}

function printSeen(out: Output, name: string, seen: Seen): void {
  const times = [seen.p50, seen.p99, seen.worst].map((time) => time.toFixed(1));
  out.row(name, seen.searches, ...times, seen.refused, seen.failed);
}

async function heaviest(nodes: readonly Node[]): Promise<Node> {
  const held = await Promise.all(
    nodes.map(({ server }) => server.metric("tessera_index_memory_bytes")),
  );
  return nodes[held.indexOf(Math.max(...held))] as Node;
}

/** Kills the node that holds most under load; what searches saw before, after, and once it is back. */
async function measureDeath(
  { out }: BenchContext,
  nodes: readonly Node[],
  load: SteadyLoad,
  { seconds, part }: Options,
): Promise<Seen[]> {
  while (load.now < part) await Bun.sleep(20);
  await Bun.sleep(LAST_ANSWERS_MS);
  const seen = [load.between(0, part)];
  printSeen(out, "before", seen[0] as Seen);
  const killed = await heaviest(nodes);
  const diedAt = load.now + 1;
  while (load.now < diedAt) await Bun.sleep(1);
  await killed.server.kill();
  for (let from = diedAt; from < diedAt + seconds; from += part) {
    while (load.now < from + part) await Bun.sleep(20);
    await Bun.sleep(LAST_ANSWERS_MS);
    const later = load.between(from, from + part);
    seen.push(later);
    printSeen(out, `${from - diedAt} to ${from - diedAt + part} s after a death`, later);
  }
  const from = load.now + 1;
  await killed.start();
  while (load.now < from + part) await Bun.sleep(20);
  await Bun.sleep(LAST_ANSWERS_MS);
  const back = load.between(from, from + part);
  printSeen(out, "it starts again", back);
  return [...seen, back];
}

/** Stops and starts each node in turn under load; what searches saw meanwhile. */
async function measureUpgrade(
  out: Output,
  nodes: readonly Node[],
  load: SteadyLoad,
): Promise<Seen> {
  const from = load.now + 1;
  for (const node of nodes) {
    await node.server.stop();
    await node.start();
    await untilComplete(node.server);
    await Bun.sleep(BALANCER_PAUSE_MS);
  }
  const to = load.now;
  await Bun.sleep(1_000);
  const seen = load.between(from, to);
  printSeen(out, "all nodes are replaced in turn", seen);
  return seen;
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const { url: databaseUrl, sql } = await context.openDatabase();
  const sizes = zipfSizes(options.projects, options.chunks);
  const written = await writeProjects(sql, sizes, options.dimension);
  const world = { databaseUrl, ...written };
  const loads = await measureLoads(context, sql, world);
  const nodes: Node[] = [];
  for (let i = 0; i < options.nodes; i++) nodes.push(await Node.start(context, world));
  const table = world.projects.map(({ slug, id }) => `${slug} ${id};\n`).join("");
  const urls = nodes.map(({ server }) => String(server.url));
  const url = await startNginx(urls, table);
  await searchEach(url, world);
  for (const { server } of nodes) await untilComplete(server);
  await printMemory(out, nodes);
  const load = new SteadyLoad(url, world.apiKey, world.projects, options.rate);
  out.head(
    "searches",
    "sent",
    "p50, ms",
    "p99, ms",
    "p99 of the worst second",
    "refused",
    "failed",
  );
  const death = await measureDeath(context, nodes, load, options);
  const upgrade = await measureUpgrade(out, nodes, load);
  await load.end();
  for (const { server } of nodes) await server.stop();
  return { loads, death, upgrade };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

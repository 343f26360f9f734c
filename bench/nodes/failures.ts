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
import { randomNumbers } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import { type Request, Sent } from "../harness/load/sent.ts";
import { open } from "../harness/load/streams.ts";
import type { BenchServer } from "../harness/server.ts";
import { quantile } from "../harness/statistics.ts";
import { mebibytes, type Output } from "../harness/table.ts";
import { startNginx } from "./nginx.ts";
import { untilComplete, untilSaved } from "./until.ts";
import { type BenchProject, searchOf, searchOnce, writeProjects, zipfSizes } from "./world.ts";

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
/** Searches that are drawn by the sizes of projects, and then sent in turn. */
const DRAWN = 5_000;

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

/** Searches each project once, one after the other; the milliseconds of each search. */
async function searchEach(url: URL, { apiKey, projects }: World): Promise<number[]> {
  const times: number[] = [];
  for (const project of projects) times.push(await searchOnce(url, apiKey, project));
  return times;
}

/** The first searches of all projects. */
interface FirstSearches {
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
async function measureLoads(
  context: BenchContext,
  sql: Sql,
  world: World,
): Promise<FirstSearches[]> {
  const own = temporaryFolder("bench-node");
  const start = (folder: string, env: Readonly<Record<string, string>> = {}) =>
    context.startServer({
      DATABASE_URL: world.databaseUrl,
      DATA_DIR: folder,
      SEARCH_WORKERS: "1",
      ...env,
    });
  await untilSaved(own, world.projects.length, () => start(own));
  context.out.head(
    "project found in",
    "first search p50, ms",
    "p99, ms",
    "max, ms",
    "CPU per project, ms",
    "chunks read in PostgreSQL",
  );
  const loads: FirstSearches[] = [];
  for (const [place, folder] of [
    ["PostgreSQL", temporaryFolder("bench-node")],
    ["its snapshot", own],
  ] as const) {
    const node = await start(folder, { INDEX_PRELOAD: "none" });
    const [before, readBefore] = [node.cpuSeconds(), await chunksRead(sql)];
    const times = await searchEach(node.url, world);
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

/** Requests that stand for the searches of a while: a project is searched as often as its share of all chunks says. */
function searchesOf(url: URL, { apiKey, projects }: World): Uint8Array[] {
  const random = randomNumbers(1);
  const total = projects.reduce((sum, { chunks }) => sum + chunks, 0);
  const ends: number[] = [];
  for (const { chunks } of projects) ends.push((ends.at(-1) ?? 0) + chunks / total);
  return Array.from({ length: DRAWN }, (_, number) => {
    const at = random();
    const chosen = projects.at(ends.findIndex((end) => at < end)) as BenchProject;
    return searchOf({ url }, apiKey, chosen, number);
  });
}

/** What the searches of some seconds saw. */
interface Seen {
  readonly searches: number;
  readonly p50: number;
  readonly p99: number;
  /** The p99 of the worst second. */
  readonly worst: number;
  readonly refused: number;
  readonly failed: number;
}

/** Of the searches that were due between two times, in seconds. */
function seenOf(sent: Sent, from: number, to: number): Seen {
  const part = sent.filter(({ due }) => due >= from * 1_000 && due < to * 1_000);
  const seconds = Map.groupBy(part.requests, ({ due }) => Math.floor(due / 1_000));
  const p99s = [...seconds.values()].map((own) => new Sent(own).quantile(0.99) || 0);
  return {
    searches: part.requests.length,
    p50: part.quantile(0.5),
    p99: part.quantile(0.99),
    worst: Math.max(...p99s),
    refused: part.refused,
    failed: part.failed,
  };
}

function printSeen(out: Output, name: string, seen: Seen): Seen {
  const times = [seen.p50, seen.p99, seen.worst].map((time) => time.toFixed(1));
  out.row(name, seen.searches, ...times, seen.refused, seen.failed);
  return seen;
}

async function heaviest(nodes: readonly Node[]): Promise<Node> {
  const held = await Promise.all(
    nodes.map(({ server }) => server.metric("tessera_index_memory_bytes")),
  );
  return nodes[held.indexOf(Math.max(...held))] as Node;
}

/** Sends searches at a steady rate for so many seconds. */
type Search = (seconds: number) => Promise<Sent>;

/** Kills the node that holds most under load; what searches saw before, after, and once it is back. */
async function measureDeath(
  { out }: BenchContext,
  nodes: readonly Node[],
  search: Search,
  { seconds, part }: Options,
): Promise<Seen[]> {
  const seen = [printSeen(out, "before", seenOf(await search(part), 0, part))];
  const killed = await heaviest(nodes);
  const [sent] = await Promise.all([search(seconds), killed.server.kill()]);
  for (let from = 0; from < seconds; from += part) {
    const name = `${from} to ${from + part} s after a death`;
    seen.push(printSeen(out, name, seenOf(sent, from, from + part)));
  }
  const [back] = await Promise.all([search(part), killed.start()]);
  return [...seen, printSeen(out, "it starts again", seenOf(back, 0, part))];
}

/** Stops and starts each node in turn under load; what searches saw meanwhile. */
async function measureUpgrade(
  out: Output,
  nodes: readonly Node[],
  search: Search,
  { part }: Options,
): Promise<Seen> {
  const replace = async () => {
    for (const node of nodes) {
      await node.server.stop();
      await node.start();
      await untilComplete(node.server);
      await Bun.sleep(BALANCER_PAUSE_MS);
    }
  };
  let isOver = false;
  const replacing = replace().finally(() => {
    isOver = true;
  });
  const all: Request[] = [];
  for (let begun = 0; !isOver; begun += part * 1_000) {
    const { requests } = await search(part);
    all.push(...requests.map((request) => ({ ...request, due: request.due + begun })));
  }
  await replacing;
  const seen = seenOf(new Sent(all), 0, Number.POSITIVE_INFINITY);
  return printSeen(out, "all nodes are replaced in turn", seen);
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
  const url = new URL(await startNginx(urls, table));
  await searchEach(url, world);
  for (const { server } of nodes) await untilComplete(server);
  await printMemory(out, nodes);
  const load = new Load();
  const searches = open(searchesOf(url, world), options.rate);
  const search: Search = async (seconds) => {
    const [sent] = await load.send(url, [{ ...searches, seconds }]);
    return sent as Sent;
  };
  out.head(
    "searches",
    "sent",
    "p50, ms",
    "p99, ms",
    "p99 of the worst second",
    "refused",
    "failed",
  );
  const death = await measureDeath(context, nodes, search, options);
  const upgrade = await measureUpgrade(out, nodes, search, options);
  for (const { server } of nodes) await server.stop();
  return { loads, death, upgrade };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

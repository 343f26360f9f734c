/**
 * What several nodes behind a balancer gain: how projects, memory and work are divided.
 *
 *   bun bench/nodes/run.ts [--projects 24] [--chunks 4000] [--dimension 768] [--searches 4800] [--nodes 3]
 *
 * Real servers on one embedded PostgreSQL behind nginx with the configuration of deploy/balancer. All
 * projects are searched in turn, by id and by slug. Memory is what the nodes count for their indexes, and
 * work is CPU time, because all nodes share the cores of one machine: throughput says nothing here. One node
 * is the baseline.
 */

import { startDatabase } from "../../support/bench/database.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer } from "../../support/bench/server.ts";
import { mebibytes, printHead, printRow } from "../../support/bench/table.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { startNginx } from "../../support/processes/nginx.ts";
import { runCommand } from "../../support/processes/process.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { quantile } from "../../support/statistics.ts";
import { type BenchProject, writeProjects } from "./world.ts";

const options = readOptions({
  projects: 24,
  chunks: 4_000,
  dimension: 768,
  searches: 4_800,
  nodes: 3,
});
const CLIENTS = 4;
/** Graphs are built meanwhile, and nodes report their memory twice per second. */
const SETTLE_MS = 1_000;

interface Fleet {
  readonly url: string;
  readonly nodes: readonly BenchServer[];
}

interface Context {
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly projects: readonly BenchProject[];
  /** Slugs and ids, for the balancer. */
  readonly table: string;
}

async function startFleet(context: Context, nodes: number): Promise<Fleet> {
  const env = {
    DATABASE_URL: context.databaseUrl,
    INDEX_PRELOAD: "own",
    SEARCH_WORKERS: "1",
  };
  const started = await Promise.all(
    Array.from({ length: nodes }, () =>
      BenchServer.start({ ...env, DATA_DIR: temporaryFolder("bench-node") }),
    ),
  );
  const url = await startNginx(
    started.map((node) => String(node.url)),
    context.table,
  );
  return { url, nodes: started };
}

/** Searches the projects in turn; the milliseconds of each search. */
async function searchAll({ url }: Fleet, context: Context, searches: number): Promise<number[]> {
  const { apiKey, projects } = context;
  const times: number[] = [];
  let next = 0;
  const client = async () => {
    for (let number = next++; number < searches; number = next++) {
      const project = projects[number % projects.length] as BenchProject;
      const turn = Math.floor(number / projects.length);
      const vector = project.queries[turn % project.queries.length] as Float32Array<ArrayBuffer>;
      const name = turn % 2 === 0 ? project.id : project.slug;
      const path = `/projects/${name}/environments/production/search`;
      const startedAt = performance.now();
      const response = await fetch(`${url}${path}?dimension=${vector.length}&threshold=0`, {
        method: "POST",
        headers: { "x-api-key": apiKey, "content-type": "application/octet-stream" },
        body: new Uint8Array(vector.buffer),
      });
      if (response.status !== 200) throw new Error(`a search got ${await response.text()}`);
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

const SEARCHES =
  'tessera_http_request_duration_seconds_count{operation="searchEnvironment",status="200"}';
const searchesOf = async (node: BenchServer) =>
  (await node.metric(SEARCHES.replaceAll(/[{}]/g, "\\$&"))) || 0;

/** Measures a fleet and prints a row per node. */
async function measure(nodesWanted: number, context: Context): Promise<void> {
  const fleet = await startFleet(context, nodesWanted);
  await searchAll(fleet, context, 2 * context.projects.length);
  for (const node of fleet.nodes) {
    do await Bun.sleep(SETTLE_MS);
    while ((await node.metric("tessera_index_complete")) !== 1);
  }
  const { nodes } = fleet;
  const before = await Promise.all(
    nodes.map(async (node) => ({ cpu: node.cpuSeconds(), searches: await searchesOf(node) })),
  );
  const times = await searchAll(fleet, context, options.searches);
  const cpu = nodes.map((node, i) => node.cpuSeconds() - (before[i]?.cpu ?? 0));
  for (const [i, node] of nodes.entries()) {
    const bytes = await node.metric("tessera_index_memory_bytes");
    const searches = (await searchesOf(node)) - (before[i]?.searches ?? 0);
    printRow(
      nodes.length === 1 ? "one node" : `node ${i + 1} of ${nodes.length}`,
      await node.metric("tessera_index_projects"),
      mebibytes(bytes),
      mebibytes(node.anonymousBytes()),
      searches,
      (((cpu[i] as number) * 1_000) / Math.max(1, searches)).toFixed(2),
      quantile(times, 0.5).toFixed(1),
      quantile(times, 0.99).toFixed(1),
    );
  }
  await Promise.all(nodes.map((node) => node.stop()));
}

async function run(): Promise<void> {
  const database = await startDatabase();
  const { apiKey, projects } = await writeProjects(database.sql, options);
  const { stdout: table } = await runCommand(["projects", "map"], {
    env: { DATABASE_URL: database.url },
  });
  const context: Context = { databaseUrl: database.url, apiKey, projects, table };
  printHead(
    ...["node", "projects in memory", "indexes, MiB", "process, MiB", "searches"],
    ...["CPU per search, ms", "p50, ms", "p99, ms"],
  );
  for (const nodes of [1, options.nodes]) await measure(nodes, context);
}

await runProgram(run);

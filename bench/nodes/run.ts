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

import { temporaryFolder } from "../../support/folders.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { BenchServer } from "../harness/server.ts";
import { quantile } from "../harness/statistics.ts";
import { mebibytes, type Output } from "../harness/table.ts";
import { startNginx } from "./nginx.ts";
import { untilComplete } from "./until.ts";
import { type BenchProject, unequalSizes, writeProjects } from "./world.ts";

export const OPTIONS = {
  projects: 24,
  chunks: 4_000,
  dimension: 768,
  searches: 4_800,
  nodes: 3,
};
type Options = typeof OPTIONS;

const CLIENTS = 4;

interface Fleet {
  readonly url: string;
  readonly nodes: readonly BenchServer[];
}

interface World {
  readonly databaseUrl: string;
  readonly apiKey: string;
  readonly projects: readonly BenchProject[];
  /** Slugs and ids, as `tessera projects map` prints them. */
  readonly table: string;
}

async function startFleet(context: BenchContext, world: World, nodes: number): Promise<Fleet> {
  const env = {
    DATABASE_URL: world.databaseUrl,
    INDEX_PRELOAD: "own",
    SEARCH_WORKERS: "1",
  };
  const started = await Promise.all(
    Array.from({ length: nodes }, () =>
      context.startServer({ ...env, DATA_DIR: temporaryFolder("bench-node") }),
    ),
  );
  const url = await startNginx(
    started.map((node) => String(node.url)),
    world.table,
  );
  return { url, nodes: started };
}

/** Searches the projects in turn; the milliseconds of each search. */
async function searchAll({ url }: Fleet, world: World, searches: number): Promise<number[]> {
  const { apiKey, projects } = world;
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

interface NodeFigures {
  readonly projects: number;
  readonly indexBytes: number;
  readonly processBytes: number;
  readonly searches: number;
  /** CPU seconds that these searches took. */
  readonly cpu: number;
}

interface FleetFigures {
  readonly nodes: readonly NodeFigures[];
  /** Milliseconds of each search. */
  readonly times: readonly number[];
}

async function measure(
  context: BenchContext,
  world: World,
  count: number,
  searches: number,
): Promise<FleetFigures> {
  const fleet = await startFleet(context, world, count);
  await searchAll(fleet, world, 2 * world.projects.length);
  await Promise.all(fleet.nodes.map(untilComplete));
  const before = await Promise.all(
    fleet.nodes.map(async (node) => ({ cpu: node.cpuSeconds(), searches: await searchesOf(node) })),
  );
  const times = await searchAll(fleet, world, searches);
  const nodes = await Promise.all(
    fleet.nodes.map(async (node, i) => ({
      cpu: node.cpuSeconds() - (before[i]?.cpu ?? 0),
      searches: (await searchesOf(node)) - (before[i]?.searches ?? 0),
      projects: await node.metric("tessera_index_projects"),
      indexBytes: await node.metric("tessera_index_memory_bytes"),
      processBytes: node.anonymousBytes(),
    })),
  );
  await Promise.all(fleet.nodes.map((node) => node.stop()));
  return { nodes, times };
}

/** Prints a row per node. */
function print(out: Output, { nodes, times }: FleetFigures): void {
  for (const [i, node] of nodes.entries()) {
    out.row(
      nodes.length === 1 ? "one node" : `node ${i + 1} of ${nodes.length}`,
      node.projects,
      mebibytes(node.indexBytes),
      mebibytes(node.processBytes),
      node.searches,
      ((node.cpu * 1_000) / Math.max(1, node.searches)).toFixed(2),
      quantile(times, 0.5).toFixed(1),
      quantile(times, 0.99).toFixed(1),
    );
  }
}

export async function run(options: Options, context: BenchContext) {
  const { url: databaseUrl, sql } = await context.openDatabase();
  const { apiKey, projects } = await writeProjects(
    sql,
    unequalSizes(options.projects, options.chunks),
    options.dimension,
  );
  const table = projects.map(({ slug, id }) => `${slug} ${id};\n`).join("");
  const world = { databaseUrl, apiKey, projects, table };
  context.out.head(
    ...["node", "projects in memory", "indexes, MiB", "process, MiB", "searches"],
    ...["CPU per search, ms", "p50, ms", "p99, ms"],
  );
  const fleets: FleetFigures[] = [];
  for (const nodes of [1, options.nodes]) {
    const figures = await measure(context, world, nodes, options.searches);
    print(context.out, figures);
    fleets.push(figures);
  }
  return { fleets };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

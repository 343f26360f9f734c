/**
 * How long committed changes take to show up in searches while one project imports in bulk.
 *
 *   bun bench/search/visibility.ts [--chunks 50000] [--dimension 1536] [--transaction 2000]
 *                                  [--chunks-per-file 10] [--after 10]
 *
 * The real server on an embedded PostgreSQL. One connection fills a large environment in
 * transactions. Meanwhile others commit one small file after the other, to another project and to
 * another environment of the same project, until `--after` seconds after the import. Each change,
 * and the last chunk of each transaction of the import, is searched for until it is found; the clock
 * starts at the end of the COMMIT. Prints the times and the longest tasks of the indexing thread.
 */
import { loadavg } from "node:os";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import {
  addApiKey,
  addEnvironment,
  addProject,
  addUser,
  type Project,
} from "../../support/accounts.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { makeVectors } from "../../support/vectors.ts";
import { chunksOf, publish, slices } from "../harness/content.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { BenchServer } from "../harness/server.ts";
import { quantile } from "../harness/statistics.ts";
import { type Output, secondsSince } from "../harness/table.ts";

export const OPTIONS = {
  chunks: 50_000,
  dimension: 1_536,
  transaction: 2_000,
  "chunks-per-file": 10,
  after: 10,
};
type Options = typeof OPTIONS;
type Vectors = Float32Array<ArrayBuffer>;

const POLL_MS = 5;
const PAUSE_MS = 20;
const TIMEOUT_MS = 600_000;

/** An environment that gets changes, and how long each took to be visible, in milliseconds. */
interface Target {
  readonly name: string;
  readonly project: Project;
  readonly environment: { readonly id: string; readonly name: string };
  readonly times: number[];
}

async function addTarget(sql: Sql, name: string, project: Project, environment: string) {
  const scope = await addEnvironment(sql, project, environment);
  return { name, project, environment: scope, times: [] } satisfies Target;
}

/** Searches until the vector itself is found, and notes the time since `committedAt`. */
async function awaitVisible(
  { server, apiKey }: Bench,
  target: Target,
  vector: Float32Array,
  committedAt: number,
): Promise<void> {
  const path = `/projects/${target.project.slug}/environments/${target.environment.name}/search`;
  const url = new URL(`${path}?dimension=${vector.length}&limit=1&threshold=0.999`, server.url);
  const body = new Uint8Array(vector.slice().buffer);
  for (;;) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/octet-stream" },
      body,
    });
    const waited = performance.now() - committedAt;
    if (response.status === 200) {
      const { data } = (await response.json()) as { data: unknown[] };
      if (data.length > 0) {
        target.times.push(waited);
        return;
      }
    }
    if (waited > TIMEOUT_MS) throw new Error(`${target.name}: not visible, ${response.status}`);
    await Bun.sleep(POLL_MS);
  }
}

/** The longest run of each task that the server's debug log reports, in milliseconds. */
function longestTasks(logs: string): Map<string, number> {
  const longest = new Map<string, number>();
  for (const line of logs.split("\n").filter((each) => each.startsWith("{"))) {
    const { tasks = {} } = JSON.parse(line) as { tasks?: Record<string, number> };
    for (const [name, took] of Object.entries(tasks)) {
      longest.set(name, Math.max(took, longest.get(name) ?? 0));
    }
  }
  return longest;
}

function printTimes(out: Output, name: string, times: readonly number[]): void {
  const at = (share: number) => quantile(times, share).toFixed(0);
  const late = times.filter((time) => time > 1000).length;
  out.row(name, times.length, at(0.5), at(0.9), at(0.99), at(1), late);
}

/** What is measured, and on what. */
interface Bench {
  readonly options: Options;
  readonly server: BenchServer;
  readonly apiKey: string;
}

let written = 0;

/** Writes chunks in new files into an environment, in one transaction. */
async function commit(
  sql: Sql,
  { project, environment }: Target,
  { vectors, dimension, perFile }: { vectors: Vectors; dimension: number; perFile: number },
): Promise<void> {
  const count = vectors.length / dimension;
  const files = Array.from({ length: Math.ceil(count / perFile) }, (_, i) => {
    const own = slices(vectors, dimension, i * perFile, Math.min(count, (i + 1) * perFile));
    const path = `docs/file-${written++}.md`;
    return { path, content: null, chunks: chunksOf(own, path) };
  });
  await publish(sql, project.id, environment.id, files);
}

/** Commits all chunks in transactions; resolves when all of them are visible. */
async function importAll(bench: Bench, writer: Sql, bulk: Target, onCommitted: () => void) {
  const { chunks, dimension, transaction, "chunks-per-file": perFile } = bench.options;
  const vectors = makeVectors("clusters", chunks, dimension, 1);
  const visible: Promise<void>[] = [];
  const times: number[] = [];
  for (let first = 0; first < chunks; first += transaction) {
    const end = Math.min(chunks, first + transaction);
    const part = vectors.subarray(first * dimension, end * dimension);
    const startedAt = performance.now();
    await commit(writer, bulk, { vectors: part, dimension, perFile });
    const committedAt = performance.now();
    times.push(committedAt - startedAt);
    visible.push(awaitVisible(bench, bulk, part.subarray(-dimension), committedAt));
  }
  onCommitted();
  await Promise.all(visible);
  return times;
}

/** Commits one small file after the other, each when the last one is visible. */
async function commitSmall(
  bench: Bench,
  sql: Sql,
  target: Target,
  seed: number,
  isOver: () => boolean,
) {
  const { dimension } = bench.options;
  for (let n = 0; !isOver(); n++) {
    const vector = makeVectors("clusters", 1, dimension, seed + n);
    await commit(sql, target, { vectors: vector, dimension, perFile: 1 });
    await awaitVisible(bench, target, vector, performance.now());
    await Bun.sleep(PAUSE_MS);
  }
}

/** An environment that is filled in bulk, and others that get small changes meanwhile. */
async function addTargets(sql: Sql, userId: string): Promise<{ bulk: Target; others: Target[] }> {
  const project = await addProject(sql, userId, "bulk");
  const other = await addProject(sql, userId, "other");
  return {
    bulk: await addTarget(sql, "the import itself", project, "production"),
    others: [
      await addTarget(sql, "another project", other, "production"),
      await addTarget(sql, "another environment of the project", project, "preview"),
    ],
  };
}

export async function run(options: Options, context: BenchContext) {
  const averageLoad = () => loadavg()[0]?.toFixed(1);
  const loadBefore = averageLoad();
  const { env, url, sql } = await context.openDatabase();
  const writer = openDatabase(url, {
    connections: 1,
    applicationName: "bench-import",
    patience: "command",
  });
  onCleanup(() => writer.end());
  const userId = await addUser(sql);
  const { key: apiKey } = await addApiKey(sql, userId);
  const { bulk, others } = await addTargets(sql, userId);
  const server = await context.startServer({ ...env, LOG_LEVEL: "debug" });
  const bench = { options, server, apiKey };

  const started = performance.now();
  let importSeconds = Number.POSITIVE_INFINITY;
  const isOver = () => secondsSince(started) > importSeconds + options.after;
  const [transactions] = await Promise.all([
    importAll(bench, writer, bulk, () => {
      importSeconds = secondsSince(started);
    }),
    ...others.map((target, i) => commitSmall(bench, sql, target, (i + 1) * 1_000_000, isOver)),
  ]);
  const { out } = context;
  out.line(
    `${options.chunks} chunks of ${options.dimension} dimensions in transactions of ` +
      `${options.transaction}: ${importSeconds.toFixed(1)} s; ` +
      `load average ${loadBefore} before, ${averageLoad()} at the end`,
  );
  out.head("milliseconds until visible", "commits", "p50", "p90", "p99", "max", "over 1 s");
  for (const { name, times } of [...others, bulk]) printTimes(out, name, times);
  printTimes(out, "(a transaction of the import)", transactions);
  out.head("long tasks of the indexing thread", "longest, ms");
  for (const [name, took] of [...longestTasks(server.logs())].sort((a, b) => b[1] - a[1])) {
    out.row(name, took);
  }
  const [versions] = await sql`SELECT count(*)::integer AS stored FROM chunks`;
  return { bulk, others, transactions, storedChunks: versions?.["stored"] as number };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

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
import { startDatabase } from "../../support/bench/database.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer } from "../../support/bench/server.ts";
import { printHead, printRow, secondsSince } from "../../support/bench/table.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { quantile } from "../../support/statistics.ts";
import { makeVectors } from "../../support/vectors.ts";
import { commitChunks } from "./commit.ts";

const options = readOptions({
  chunks: 50_000,
  dimension: 1_536,
  transaction: 2_000,
  "chunks-per-file": 10,
  after: 10,
});
const { chunks, dimension } = options;
const POLL_MS = 5;
const PAUSE_MS = 20;
const TIMEOUT_MS = 60_000;

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
  server: BenchServer,
  apiKey: string,
  target: Target,
  vector: Float32Array,
  committedAt: number,
): Promise<void> {
  const path = `/projects/${target.project.slug}/environments/${target.environment.name}/search`;
  const url = new URL(`${path}?dimension=${dimension}&limit=1&threshold=0.999`, server.url);
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

function printTimes(name: string, times: readonly number[]): void {
  const at = (share: number) => quantile(times, share).toFixed(0);
  const late = times.filter((time) => time > 1000).length;
  printRow(name, times.length, at(0.5), at(0.9), at(0.99), at(1), late);
}

await runProgram(async () => {
  const averageLoad = () => loadavg()[0]?.toFixed(1);
  const loadBefore = averageLoad();
  const { dataDir, url, sql } = await startDatabase();
  const writer = openDatabase(url, {
    connections: 1,
    applicationName: "bench-import",
    patience: "command",
  });
  onCleanup(() => writer.end());
  const userId = await addUser(sql);
  const { key } = await addApiKey(sql, userId);
  const project = await addProject(sql, userId, "bulk");
  const bulk = await addTarget(sql, "the import itself", project, "production");
  const other = await addProject(sql, userId, "other");
  const targets = [
    await addTarget(sql, "another project", other, "production"),
    await addTarget(sql, "another environment of the project", project, "preview"),
  ];
  const server = await BenchServer.start({ DATA_DIR: dataDir, LOG_LEVEL: "debug" });
  const vectors = makeVectors("clusters", chunks, dimension, 1);

  const started = performance.now();
  let importSeconds: number | undefined;
  const transactionTimes: number[] = [];
  const importAll = async () => {
    const visible: Promise<void>[] = [];
    for (let first = 0; first < chunks; first += options.transaction) {
      const end = Math.min(chunks, first + options.transaction);
      const part = vectors.subarray(first * dimension, end * dimension);
      const transactionStarted = performance.now();
      await commitChunks(writer, bulk, {
        vectors: part,
        dimension,
        perFile: options["chunks-per-file"],
      });
      const committedAt = performance.now();
      transactionTimes.push(committedAt - transactionStarted);
      visible.push(awaitVisible(server, key, bulk, part.subarray(-dimension), committedAt));
    }
    importSeconds = secondsSince(started);
    await Promise.all(visible);
  };
  const commitSmall = async (target: Target, seed: number) => {
    const isOver = () =>
      importSeconds !== undefined && secondsSince(started) > importSeconds + options.after;
    for (let n = 0; !isOver(); n++) {
      const vector = makeVectors("clusters", 1, dimension, seed + n);
      await commitChunks(sql, target, { vectors: vector, dimension, perFile: 1 });
      await awaitVisible(server, key, target, vector, performance.now());
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all([
    importAll(),
    ...targets.map((target, i) => commitSmall(target, (i + 1) * 1_000_000)),
  ]);
  console.log(
    `${chunks} chunks of ${dimension} dimensions in transactions of ${options.transaction}: ` +
      `${importSeconds?.toFixed(1)} s; load average ${loadBefore} before, ${averageLoad()} at the end`,
  );
  printHead("milliseconds until visible", "commits", "p50", "p90", "p99", "max", "over 1 s");
  for (const { name, times } of [...targets, bulk]) printTimes(name, times);
  printTimes("(a transaction of the import)", transactionTimes);
  printHead("long tasks of the indexing thread", "longest, ms");
  for (const [name, took] of [...longestTasks(server.logs())].sort((a, b) => b[1] - a[1])) {
    printRow(name, took);
  }
});

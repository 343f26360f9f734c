/**
 * Knowledge lookup through the running service: HTTP, API key, PostgreSQL, worker threads.
 *
 *   bun bench/knowledge/service.ts [--folder FOLDER] [--documents 20000] [--imported 20000]
 *                                  [--items 100000] [--requests 2000]
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "../../src/db/client.ts";
import { buildSegment } from "../../src/text/index.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { type Latencies, LoadGenerator } from "../harness/load.ts";
import { postRequest } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import { mebibytes, secondsSince } from "../harness/table.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { knownItemQueries } from "../relevance/queries.ts";
import { synthesise } from "../relevance/synthesise.ts";
import { Client, watchChanges, watchLag } from "./client.ts";
import { importFiles } from "./importing.ts";
import { cpuOfBaselines, measureInProcess, ms, PAGE, Report } from "./in-process.ts";
import { type BenchProject, sourceOf, writeFiles, writeProject } from "./world.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: 20_000,
  imported: 20_000,
  items: 100_000,
  requests: 2_000,
};
type Options = typeof OPTIONS;

const QUERIES_PER_KIND = 100;
const CLIENTS = 16;
const WATCH_MS = 5_000;

/** What every part of the benchmark needs. */
interface Bench {
  readonly options: Options;
  readonly sql: Sql;
  readonly report: Report;
}

const seconds = (since: number) => secondsSince(since).toFixed(2);

async function measureLoading(
  { options, sql, report }: Bench,
  client: Client,
  project: BenchProject,
  note: BenchProject,
) {
  const documentCount = options.documents;
  const documents = synthesise(readCorpus(options.folder), documentCount, 1);
  const sources = documents.map(sourceOf);
  const queries = knownItemQueries(documents, 2, QUERIES_PER_KIND).map((query) => query.text);
  await client.page(project, {});
  await client.page(note, {});
  const before = client.server.anonymousBytes();
  const stop = watchChanges(sql, client, note);
  let count = 0;
  const stopLag = watchLag(client, project, () => count);
  const start = performance.now();
  const cpu = client.server.cpuSeconds();
  await writeFiles(sql, project, sources, (written) => {
    count = written;
  });
  report.add(`${documentCount} documents written to PostgreSQL`, `${seconds(start)} s`);
  const written = performance.now();
  const lags = await stopLag();
  report.add(
    "documents that are not searchable yet, meanwhile",
    `median ${median(lags).toFixed(0)}, most ${Math.max(...lags)}`,
  );
  await client.until(project, {}, (page) => page.shard.total_items === documentCount);
  report.add("all searchable, after the last commit", `${seconds(written)} s`);
  report.add(
    "all searchable, after the first",
    `${seconds(start)} s, ${(documentCount / secondsSince(start)).toFixed(0)} documents per second`,
  );
  const spent = client.server.cpuSeconds() - cpu;
  const seen = await stop();
  report.add(
    `a change in another project is visible meanwhile (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
  const loaded = client.server.anonymousBytes();
  const index = await client.server.metric("tessera_index_memory_bytes");
  const perDocument = (bytes: number) => `${(bytes / documentCount / 1024).toFixed(1)} KiB`;
  report.add(
    "anonymous memory, empty and loaded",
    `${mebibytes(before)} and ${mebibytes(loaded)} MiB, ${perDocument(loaded - before)} per document`,
  );
  report.add("of it the index", `${mebibytes(index)} MiB, ${perDocument(index)} per document`);
  const own = process.cpuUsage();
  buildSegment(documents);
  const used = process.cpuUsage(own);
  const built = (used.user + used.system) / 1e6;
  report.add("CPU to build one segment of them in process", `${built.toFixed(1)} s`, "1.00");
  report.add(
    "server CPU until all are searchable",
    `${spent.toFixed(1)} s`,
    (spent / built).toFixed(2),
  );
  return { queries, changes: seen.length, index, baseline: cpuOfBaselines(documents, queries) };
}

async function measureImport(
  { options, report }: Bench,
  context: BenchContext,
  url: string,
  client: Client,
  project: BenchProject,
) {
  const count = options.imported;
  const sources = synthesise(readCorpus(options.folder), count, 2).map(sourceOf);
  const imported = await importFiles(context, url, client, project, sources);
  const rate = (count / imported.importSeconds).toFixed(0);
  report.add(
    `${count} documents imported`,
    `${imported.importSeconds.toFixed(1)} s, ${rate} per second`,
  );
  report.add("the first searchable, after the start", `${imported.firstSeconds.toFixed(1)} s`);
  report.add("all searchable, after the import", `${imported.searchableSeconds.toFixed(2)} s`);
  const perDocument = (bytes: number) => `${(bytes / count / 1024).toFixed(1)} KiB`;
  report.add(
    "memory per imported document, of the index and of all that is anonymous",
    `${perDocument(imported.indexBytes)} and ${perDocument(imported.anonymousBytes)}`,
  );
  return imported;
}

async function measureLookups(
  { options, report }: Bench,
  client: Client,
  apiKey: string,
  project: BenchProject,
  queries: readonly string[],
  baseline: { mean: number; p50: number },
  others: ReadonlyArray<{ name: string; cpuMs: number }>,
): Promise<Latencies[]> {
  const measured: Latencies[] = [];
  const payloads = queries.map((query) =>
    postRequest(client.server, project.lookupPath, apiKey, JSON.stringify({ query })),
  );
  const load = new LoadGenerator();
  await load.run(client.server, CLIENTS, Math.min(queries.length, options.requests), payloads);
  for (const clients of [1, CLIENTS]) {
    const latencies = await load.run(client.server, clients, options.requests, payloads);
    measured.push(latencies);
    const { p50, p99, qps, cpu } = latencies;
    report.add(
      `lookups, ${clients} client${clients === 1 ? "" : "s"}`,
      `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${qps.toFixed(0)} per second, ` +
        `${cpu.toFixed(2)} ms CPU each`,
      `p50 ${(p50 / baseline.p50).toFixed(2)}, CPU ${(cpu / baseline.mean).toFixed(2)}`,
    );
    if (clients === 1) continue;
    for (const { name, cpuMs } of others) {
      report.add(
        `${name}, in process`,
        `${cpuMs.toFixed(2)} ms CPU each`,
        `Tessera ${(cpu / cpuMs).toFixed(2)}`,
      );
    }
  }
  return measured;
}

/** Browses all items page by page; returns the milliseconds per page. */
async function browseAll(
  client: Client,
  project: BenchProject,
  itemCount: number,
): Promise<number[]> {
  const times: number[] = [];
  let items = 0;
  for (let body: object | null = {}; body !== null; ) {
    const asked = performance.now();
    const page = await client.page(project, body);
    times.push(performance.now() - asked);
    items += page.returned;
    body = page.page_info.next === null ? null : { cursor: page.page_info.next };
  }
  if (items !== itemCount) throw new Error(`browsing listed ${items} of ${itemCount} items`);
  return times;
}

async function measureBrowsing(
  { options, sql, report }: Bench,
  client: Client,
  project: BenchProject,
) {
  const itemCount = options.items;
  const sources = Array.from({ length: itemCount }, (_, i) => ({
    path: `items/${String(i).padStart(7, "0")}.md`,
    text: `tiny ${i}`,
  }));
  // The first lookup loads the project; from then on it follows the change log.
  await client.page(project, {});
  const start = performance.now();
  await writeFiles(sql, project, sources);
  await client.until(project, {}, (page) => page.shard.total_items === itemCount);
  report.add(`${itemCount} tiny items written and searchable`, `${seconds(start)} s`);

  const times = await browseAll(client, project, itemCount);
  const tenth = Math.ceil(times.length / 10);
  const part = (from: number) => median(times.slice(from, from + tenth));
  const first = part(0);
  for (const [name, from] of [
    ["first", 0],
    ["middle", times.length >> 1],
    ["last", times.length - tenth],
  ] as const) {
    const time = part(from);
    report.add(
      `a page of ${PAGE}, ${name} tenth of ${times.length} pages`,
      `p50 ${time.toFixed(2)} ms`,
      (time / first).toFixed(2),
    );
  }
  const stop = watchChanges(sql, client, project);
  await Bun.sleep(Math.min(WATCH_MS, itemCount));
  const seen = await stop();
  report.add(
    `a change among ${itemCount} items is visible (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
  return { pages: times.length, changes: seen.length };
}

export async function run(options: Options, context: BenchContext) {
  const { dataDir, env, url, sql } = await context.openDatabase();
  const bench = { options, sql, report: new Report(context.out) };
  const { report } = bench;
  const userId = await addUser(sql);
  const { key } = await addApiKey(sql, userId);
  const [big, tiny, note, imports] = [
    await writeProject(sql, userId, "big"),
    await writeProject(sql, userId, "tiny"),
    await writeProject(sql, userId, "note"),
    await writeProject(sql, userId, "imported"),
  ];
  const empty = await context.startServer(env);
  report.add("empty start until ready", `${empty.startSeconds.toFixed(2)} s`, "1.00");
  const first = new Client(empty, key);
  const loading = await measureLoading(bench, first, big, note);
  const { queries } = loading;
  const imported = await measureImport(bench, context, url, first, imports);

  const stopping = performance.now();
  await empty.stop();
  report.add("stop with a snapshot", `${seconds(stopping)} s`);
  const starting = performance.now();
  const server = await context.startServer(env);
  const client = new Client(server, key);
  report.add(
    "start from the snapshot until ready",
    `${server.startSeconds.toFixed(2)} s`,
    (server.startSeconds / empty.startSeconds).toFixed(2),
  );
  await client.page(big, { query: queries[0] });
  report.add("until the first lookup is answered", `${seconds(starting)} s`);
  const memory = mebibytes(server.anonymousBytes());
  report.add("anonymous memory after the first lookup", `${memory} MiB`);

  const slot = readdirSync(join(dataDir, "index")).find((name) => !name.endsWith(".lock"));
  const directory = join(dataDir, "index", slot as string, big.id, "text");
  const snapshot = await measureInProcess(report, options.requests, directory, big, queries);
  const others = loading.baseline;
  const lookups = await measureLookups(bench, client, key, big, queries, snapshot, others);
  const browsing = await measureBrowsing(bench, client, tiny);
  report.end();
  return { loading, imported, snapshot, lookups, browsing };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

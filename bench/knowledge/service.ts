/**
 * Knowledge lookup through the running service: HTTP, API key, PostgreSQL, worker threads.
 *
 *   bun bench/knowledge/service.ts [--folder FOLDER] [--documents 20000] [--imported 20000]
 *                                  [--items 100000] [--requests 2000]
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "../../src/db/client.ts";
import { readTextSnapshot } from "../../src/indexing/text/text-snapshot.ts";
import { buildSegment, type KnowledgeDocument } from "../../src/text/index.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { startDatabase } from "../../support/bench/database.ts";
import { LoadGenerator } from "../../support/bench/load.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer, postRequest } from "../../support/bench/server.ts";
import { mebibytes, secondsSince } from "../../support/bench/table.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { readCorpus } from "../../support/relevance/corpus.ts";
import { knownItemQueries } from "../../support/relevance/queries.ts";
import { synthesise } from "../../support/relevance/synthesise.ts";
import { mean, median, quantile } from "../../support/statistics.ts";
import { lookup } from "../../workers/lookup.ts";
import { baselines } from "./baseline.ts";
import { Client, watchChanges, watchLag } from "./client.ts";
import { importFiles } from "./importing.ts";
import { type BenchProject, sourceOf, writeFiles, writeProject } from "./world.ts";

const options = readOptions({
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: 20_000,
  imported: 20_000,
  items: 100_000,
  requests: 2_000,
});
const { documents: documentCount, items: itemCount } = options;
const QUERIES_PER_KIND = 100;
const PAGE = 12;
const COMPARED = new Set(["MiniSearch, tuned", "FTS5, Porter, weighted"]);
const BASELINE_QUERIES = 200;
/** Building the indexes of the other systems takes minutes beyond this. */
const BASELINE_DOCUMENTS_MAX = 50_000;
const CLIENTS = 16;
const WATCH_MS = 5_000;

const rows: Array<{ what: string; value: string; ratio: string }> = [];

function row(what: string, value: string, ratio = ""): void {
  rows.push({ what, value, ratio });
  console.log(`${what}: ${value} ${ratio}`);
}

const seconds = (since: number) => secondsSince(since).toFixed(2);
const ms = (times: readonly number[], share: number) => quantile(times, share).toFixed(2);

async function measureLoading(sql: Sql, client: Client, project: BenchProject, note: BenchProject) {
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
  row(`${documentCount} documents written to PostgreSQL`, `${seconds(start)} s`);
  const written = performance.now();
  const lags = await stopLag();
  row(
    "documents that are not searchable yet, meanwhile",
    `median ${median(lags).toFixed(0)}, most ${Math.max(...lags)}`,
  );
  await client.until(project, {}, (page) => page.shard.total_items === documentCount);
  row("all searchable, after the last commit", `${seconds(written)} s`);
  row(
    "all searchable, after the first",
    `${seconds(start)} s, ${(documentCount / secondsSince(start)).toFixed(0)} documents per second`,
  );
  const spent = client.server.cpuSeconds() - cpu;
  const seen = await stop();
  row(
    `a change in another project is visible meanwhile (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
  const loaded = client.server.anonymousBytes();
  const index = await client.server.metric("tessera_index_memory_bytes");
  const perDocument = (bytes: number) => `${(bytes / documentCount / 1024).toFixed(1)} KiB`;
  row(
    "anonymous memory, empty and loaded",
    `${mebibytes(before)} and ${mebibytes(loaded)} MiB, ${perDocument(loaded - before)} per document`,
  );
  row("of it the index", `${mebibytes(index)} MiB, ${perDocument(index)} per document`);
  const own = process.cpuUsage();
  buildSegment(documents);
  const used = process.cpuUsage(own);
  const built = (used.user + used.system) / 1e6;
  row("CPU to build one segment of them in process", `${built.toFixed(1)} s`, "1.00");
  row("server CPU until all are searchable", `${spent.toFixed(1)} s`, (spent / built).toFixed(2));
  return { queries, baseline: cpuOfBaselines(documents, queries) };
}

async function measureImport(url: string, client: Client, project: BenchProject): Promise<void> {
  const count = options.imported;
  const sources = synthesise(readCorpus(options.folder), count, 2).map(sourceOf);
  const imported = await importFiles(url, client, project, sources);
  const rate = (count / imported.importSeconds).toFixed(0);
  row(`${count} documents imported`, `${imported.importSeconds.toFixed(1)} s, ${rate} per second`);
  row("the first searchable, after the start", `${imported.firstSeconds.toFixed(1)} s`);
  row("all searchable, after the import", `${imported.searchableSeconds.toFixed(2)} s`);
  const perDocument = (bytes: number) => `${(bytes / count / 1024).toFixed(1)} KiB`;
  row(
    "memory per imported document, of the index and of all that is anonymous",
    `${perDocument(imported.indexBytes)} and ${perDocument(imported.anonymousBytes)}`,
  );
}

/** CPU milliseconds per query of other systems over the same documents, in this process. */
function cpuOfBaselines(documents: readonly KnowledgeDocument[], queries: readonly string[]) {
  if (documents.length > BASELINE_DOCUMENTS_MAX) return [];
  const chosen = baselines(documents).filter(([name]) => COMPARED.has(name));
  const some = queries.slice(0, BASELINE_QUERIES);
  return chosen.map(([name, ask]) => {
    for (const query of some) ask(query);
    const before = process.cpuUsage();
    for (const query of some) ask(query);
    const { user, system } = process.cpuUsage(before);
    return { name, cpuMs: (user + system) / 1e3 / some.length };
  });
}

/** Runs the same lookups in this process, on the segments of the server's snapshot. */
async function measureInProcess(
  directory: string,
  project: BenchProject,
  queries: readonly string[],
) {
  const text = await readTextSnapshot(directory);
  if (text === null) throw new Error("the server left no snapshot");
  const members = text.members(project.environmentId);
  const segments = members.map(({ key }) => ({
    key,
    buffer: text.segments.get(key)?.segment.buffer as SharedArrayBuffer,
  }));
  const view = { number: -1, segments, documentSets: members.map((member) => member.documents) };
  const ask = (query: string) =>
    lookup({ view, query, limit: PAGE, shardIndex: 0, shardCount: 1, returned: [], after: null });
  for (const query of queries) ask(query);
  const times: number[] = [];
  for (let i = 0; i < options.requests; i++) {
    const start = performance.now();
    ask(queries[i % queries.length] as string);
    times.push(performance.now() - start);
  }
  row(
    `worker time per lookup (in process, ${segments.length} segments)`,
    `p50 ${ms(times, 0.5)} ms, p99 ${ms(times, 0.99)} ms, mean ${mean(times).toFixed(2)} ms`,
    "1.00",
  );
  return { mean: mean(times), p50: median(times) };
}

async function measureLookups(
  client: Client,
  apiKey: string,
  project: BenchProject,
  queries: readonly string[],
  baseline: { mean: number; p50: number },
  others: ReadonlyArray<{ name: string; cpuMs: number }>,
): Promise<void> {
  const payloads = queries.map((query) =>
    postRequest(client.server, project.lookupPath, apiKey, JSON.stringify({ query })),
  );
  const load = new LoadGenerator();
  await load.run(client.server, CLIENTS, queries.length, payloads);
  for (const clients of [1, CLIENTS]) {
    const { p50, p99, qps, cpu } = await load.run(
      client.server,
      clients,
      options.requests,
      payloads,
    );
    row(
      `lookups, ${clients} client${clients === 1 ? "" : "s"}`,
      `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${qps.toFixed(0)} per second, ` +
        `${cpu.toFixed(2)} ms CPU each`,
      `p50 ${(p50 / baseline.p50).toFixed(2)}, CPU ${(cpu / baseline.mean).toFixed(2)}`,
    );
    if (clients === 1) continue;
    for (const { name, cpuMs } of others) {
      row(
        `${name}, in process`,
        `${cpuMs.toFixed(2)} ms CPU each`,
        `Tessera ${(cpu / cpuMs).toFixed(2)}`,
      );
    }
  }
}

/** Browses all items page by page; returns the milliseconds per page. */
async function browseAll(client: Client, project: BenchProject): Promise<number[]> {
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

async function measureBrowsing(sql: Sql, client: Client, project: BenchProject): Promise<void> {
  const sources = Array.from({ length: itemCount }, (_, i) => ({
    path: `items/${String(i).padStart(7, "0")}.md`,
    text: `tiny ${i}`,
  }));
  // The first lookup loads the project; from then on it follows the change log.
  await client.page(project, {});
  const start = performance.now();
  await writeFiles(sql, project, sources);
  await client.until(project, {}, (page) => page.shard.total_items === itemCount);
  row(`${itemCount} tiny items written and searchable`, `${seconds(start)} s`);

  const times = await browseAll(client, project);
  const tenth = Math.ceil(times.length / 10);
  const part = (from: number) => median(times.slice(from, from + tenth));
  const first = part(0);
  for (const [name, from] of [
    ["first", 0],
    ["middle", times.length >> 1],
    ["last", times.length - tenth],
  ] as const) {
    const time = part(from);
    row(
      `a page of ${PAGE}, ${name} tenth of ${times.length} pages`,
      `p50 ${time.toFixed(2)} ms`,
      (time / first).toFixed(2),
    );
  }
  const stop = watchChanges(sql, client, project);
  await Bun.sleep(Math.min(WATCH_MS, itemCount));
  const seen = await stop();
  row(
    `a change among ${itemCount} items is visible (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
}

await runProgram(async () => {
  const { dataDir, url, sql } = await startDatabase();
  const userId = await addUser(sql);
  const { key } = await addApiKey(sql, userId);
  const big = await writeProject(sql, userId, "big");
  const tiny = await writeProject(sql, userId, "tiny");
  const note = await writeProject(sql, userId, "note");
  const imported = await writeProject(sql, userId, "imported");
  const empty = await BenchServer.start({ DATA_DIR: dataDir });
  row("empty start until ready", `${empty.startSeconds.toFixed(2)} s`, "1.00");
  const first = new Client(empty, key);
  const { queries, baseline: others } = await measureLoading(sql, first, big, note);
  await measureImport(url, first, imported);

  const stopping = performance.now();
  await empty.stop();
  row("stop with a snapshot", `${seconds(stopping)} s`);
  const starting = performance.now();
  const server = await BenchServer.start({ DATA_DIR: dataDir });
  const client = new Client(server, key);
  row(
    "start from the snapshot until ready",
    `${server.startSeconds.toFixed(2)} s`,
    (server.startSeconds / empty.startSeconds).toFixed(2),
  );
  await client.page(big, { query: queries[0] });
  row("until the first lookup is answered", `${seconds(starting)} s`);
  row("anonymous memory after the first lookup", `${mebibytes(server.anonymousBytes())} MiB`);

  const slot = readdirSync(join(dataDir, "index")).find((name) => !name.endsWith(".lock"));
  const directory = join(dataDir, "index", slot as string, big.id, "text");
  const baseline = await measureInProcess(directory, big, queries);
  await measureLookups(client, key, big, queries, baseline, others);
  await measureBrowsing(sql, client, tiny);
  console.table(rows);
});

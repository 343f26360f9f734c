/**
 * Knowledge lookup through the running service: HTTP, API key, PostgreSQL, worker threads.
 *
 * usage: bun bench/knowledge/service.ts [FOLDER] [DOCUMENTS] [TINY ITEMS]
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { readTextSnapshot } from "../../src/indexing/text/text-snapshot.ts";
import { buildSegment } from "../../src/text/index.ts";
import { readCorpus } from "../../support/relevance/corpus.ts";
import { knownItemQueries } from "../../support/relevance/queries.ts";
import { synthesise } from "../../support/relevance/synthesise.ts";
import { quantile } from "../../support/statistics.ts";
import { lookup } from "../../workers/lookup.ts";
import { BenchServer, LoadGenerator, postRequest } from "../search/server.ts";
import { type BenchProject, sourceOf, writeFiles, writeProject, writeUser } from "./world.ts";

const folder = process.argv[2] || `${import.meta.dir}/../../fixtures/docs`;
const documentCount = Number(process.argv[3] ?? 20_000);
const tinyCount = Number(process.argv[4] ?? 100_000);
const QUERIES_PER_KIND = 100;
const REQUESTS = 2_000;
const MEBIBYTE = 2 ** 20;
const PAGE = 12;
const POLL_MS = 10;
const CHANGE_INTERVAL_MS = 250;

interface Page {
  readonly page_info: { readonly next: string | null };
  readonly total_matches: number;
  readonly shard: { readonly total_items: number };
}

const rows: Array<{ what: string; value: string; ratio: string }> = [];

function row(what: string, value: string, ratio = ""): void {
  rows.push({ what, value, ratio });
  console.log(`${what}: ${value} ${ratio}`);
}

const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(2);
const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b);
const ms = (sorted: readonly number[], share: number) => quantile(sorted, share).toFixed(2);

class Client {
  constructor(
    readonly server: BenchServer,
    private readonly apiKey: string,
  ) {}

  async page(project: BenchProject, body: object): Promise<Page> {
    const response = await fetch(new URL(project.lookupPath, this.server.url), {
      method: "POST",
      headers: { "x-api-key": this.apiKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as Page;
  }

  async until(project: BenchProject, body: object, done: (page: Page) => boolean): Promise<void> {
    while (!done(await this.page(project, body))) await Bun.sleep(POLL_MS);
  }
}

/** Changes one file repeatedly until stopped; returns how long each change took to be visible. */
function watchChanges(sql: Sql, client: Client, project: BenchProject) {
  const times: number[] = [];
  let stopped = false;
  const watching = (async () => {
    for (let i = 0; !stopped; i++) {
      const word = `w${Bun.hash(String(i)).toString(36)}`;
      await writeFiles(sql, project, [{ path: "note.md", text: word }]);
      const start = performance.now();
      await client.until(project, { query: word }, (page) => page.total_matches > 0);
      times.push(performance.now() - start);
      await Bun.sleep(CHANGE_INTERVAL_MS);
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return ascending(times);
  };
}

async function measureLoading(sql: Sql, client: Client, project: BenchProject, note: BenchProject) {
  const documents = synthesise(readCorpus(folder), documentCount, 1);
  const sources = documents.map(sourceOf);
  const queries = knownItemQueries(documents, 2, QUERIES_PER_KIND).map((query) => query.text);
  await client.page(project, {});
  await client.page(note, {});
  const before = client.server.rssBytes();
  const stop = watchChanges(sql, client, note);
  const start = performance.now();
  const cpu = client.server.cpuSeconds();
  await writeFiles(sql, project, sources);
  row(`${documentCount} documents written to PostgreSQL`, `${seconds(start)} s`);
  const written = performance.now();
  await client.until(project, {}, (page) => page.shard.total_items === documentCount);
  row("all searchable, after the last commit", `${seconds(written)} s`);
  row("all searchable, after the first", `${seconds(start)} s`);
  const spent = client.server.cpuSeconds() - cpu;
  const seen = await stop();
  row(
    `a change in another project is visible meanwhile (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
  row(
    "resident memory, empty and loaded",
    `${(before / MEBIBYTE).toFixed(0)} and ${(client.server.rssBytes() / MEBIBYTE).toFixed(0)} MiB`,
  );
  const own = process.cpuUsage();
  buildSegment(documents);
  const used = process.cpuUsage(own);
  const built = (used.user + used.system) / 1e6;
  row("CPU to build one segment of them in process", `${built.toFixed(1)} s`, "1.00");
  row("server CPU until all are searchable", `${spent.toFixed(1)} s`, (spent / built).toFixed(2));
  return queries;
}

/** The same lookups in this process, on the segments of the server's snapshot. */
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
  for (let i = 0; i < REQUESTS; i++) {
    const start = performance.now();
    ask(queries[i % queries.length] as string);
    times.push(performance.now() - start);
  }
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const sorted = ascending(times);
  row(
    `worker time per lookup (in process, ${segments.length} segments)`,
    `p50 ${ms(sorted, 0.5)} ms, p99 ${ms(sorted, 0.99)} ms, mean ${mean.toFixed(2)} ms`,
    "1.00",
  );
  return { mean, p50: quantile(sorted, 0.5) };
}

async function measureLookups(
  client: Client,
  apiKey: string,
  project: BenchProject,
  queries: readonly string[],
  baseline: { mean: number; p50: number },
): Promise<void> {
  const payloads = queries.map((query) =>
    postRequest(client.server, project.lookupPath, apiKey, JSON.stringify({ query })),
  );
  const load = new LoadGenerator();
  try {
    await load.run(client.server, 8, queries.length, payloads);
    for (const clients of [1, 8]) {
      const { p50, p99, qps, cpu } = await load.run(client.server, clients, REQUESTS, payloads);
      row(
        `lookups, ${clients} client${clients === 1 ? "" : "s"}`,
        `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${qps.toFixed(0)} per second, ` +
          `${cpu.toFixed(2)} ms CPU each`,
        `p50 ${(p50 / baseline.p50).toFixed(2)}, CPU ${(cpu / baseline.mean).toFixed(2)}`,
      );
    }
  } finally {
    load.stop();
  }
}

async function measureBrowsing(sql: Sql, client: Client, project: BenchProject): Promise<void> {
  const sources = Array.from({ length: tinyCount }, (_, i) => ({
    path: `items/${String(i).padStart(7, "0")}.md`,
    text: `tiny ${i}`,
  }));
  // The first lookup loads the project; from then on it follows the change log.
  await client.page(project, {});
  const start = performance.now();
  await writeFiles(sql, project, sources);
  await client.until(project, {}, (page) => page.shard.total_items === tinyCount);
  row(`${tinyCount} tiny items written and searchable`, `${seconds(start)} s`);

  const times: number[] = [];
  let items = 0;
  for (let body: object | null = {}; body !== null; ) {
    const asked = performance.now();
    const page: Page & { returned?: number } = await client.page(project, body);
    times.push(performance.now() - asked);
    items += page.returned ?? 0;
    body = page.page_info.next === null ? null : { cursor: page.page_info.next };
  }
  if (items !== tinyCount) throw new Error(`browsing listed ${items} of ${tinyCount} items`);
  const tenth = Math.floor(times.length / 10);
  const part = (from: number) => quantile(ascending(times.slice(from, from + tenth)), 0.5);
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
  const seen = await (async () => {
    const stop = watchChanges(sql, client, project);
    await Bun.sleep(5_000);
    return await stop();
  })();
  row(
    `a change among ${tinyCount} items is visible (${seen.length} changes)`,
    `p50 ${ms(seen, 0.5)} ms, slowest ${ms(seen, 1)} ms`,
  );
}

const dataDir = mkdtempSync(join(tmpdir(), "tessera-bench-"));
// When this process is root, PostgreSQL runs as another account and must reach the folder.
chmodSync(dataDir, 0o711);
const database = await openEmbeddedDatabase({ dataDir, log: () => {} });
const sql = openDatabase(database.url, { statementTimeoutMs: 0 });
let server: BenchServer | undefined;
try {
  await migrate(sql);
  const { userId, apiKey } = await writeUser(sql);
  const big = await writeProject(sql, userId, "big");
  const tiny = await writeProject(sql, userId, "tiny");
  const note = await writeProject(sql, userId, "note");
  server = await BenchServer.start(dataDir);
  const emptyStart = server.startSeconds;
  row("empty start until ready", `${emptyStart.toFixed(2)} s`, "1.00");
  const queries = await measureLoading(sql, new Client(server, apiKey), big, note);

  const stopping = performance.now();
  await server.stop();
  row("stop with a snapshot", `${seconds(stopping)} s`);
  const starting = performance.now();
  server = await BenchServer.start(dataDir);
  const client = new Client(server, apiKey);
  row(
    "start from the snapshot until ready",
    `${server.startSeconds.toFixed(2)} s`,
    (server.startSeconds / emptyStart).toFixed(2),
  );
  await client.page(big, { query: queries[0] });
  row("until the first lookup is answered", `${seconds(starting)} s`);
  row("resident memory after the first lookup", `${(server.rssBytes() / MEBIBYTE).toFixed(0)} MiB`);

  const slot = readdirSync(join(dataDir, "index")).find((name) => !name.endsWith(".lock"));
  const directory = join(dataDir, "index", slot as string, big.id, "text");
  const baseline = await measureInProcess(directory, big, queries);
  await measureLookups(client, apiKey, big, queries, baseline);
  await measureBrowsing(sql, client, tiny);
  console.table(rows);
} finally {
  await server?.stop();
  await sql.end();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);

/**
 * The native search core against USearch in bf16, in one process and one run.
 *
 *   bun bench/micro/native-search.ts [--vectors 50000] [--dimension 1536] [--queries 1000]
 *                                    [--data clusters|uniform|sparse] [--no-baseline]
 *
 * It prints recall@10 against brute force and CPU time per query for each scope size, the time of each
 * stage, memory per vector, build rates, snapshot and restore times, and ratios to USearch.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { readOptions } from "../../support/bench/options.ts";
import { mebibytes, printRow, secondsSince } from "../../support/bench/table.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";

const options = readOptions({
  vectors: 50_000,
  dimension: 1_536,
  queries: 1_000,
  data: "clusters",
  baseline: true,
});
const { vectors: count, dimension, queries: queryCount } = options;
const NEIGHBOURS = 10;
const RECALL_QUERIES = Math.min(queryCount, 200);
const TEXT_BYTES = 700;
const PROJECT = "bench";

/** Mean CPU microseconds per call of `work`, over all queries. */
function cpuMicroseconds(work: (query: number) => void): number {
  for (let query = 0; query < Math.min(50, queryCount); query++) work(query);
  const before = process.cpuUsage();
  for (let query = 0; query < queryCount; query++) work(query);
  const spent = process.cpuUsage(before);
  return (spent.user + spent.system) / queryCount;
}

const all = makeVectors(options.data as DataKind, count + queryCount, dimension, 1);
const vectors = all.subarray(0, count * dimension);
const queryAt = (query: number) =>
  all.slice((count + query) * dimension, (count + query + 1) * dimension);
const queries = Array.from({ length: queryCount }, (_, query) => queryAt(query));
const encoder = new TextEncoder();
const bodies = queries.map((vector) =>
  encoder.encode(JSON.stringify({ vector: Array.from(vector), dimension, threshold: 0 })),
);

native.openProject(PROJECT);
const rssBefore = process.memoryUsage.rss();
let started = performance.now();
const BATCH = 2000;
for (let first = 0; first < count; first += BATCH) {
  const size = Math.min(BATCH, count - first);
  const ids = new Uint8Array(size * 16);
  const view = new DataView(ids.buffer);
  for (let i = 0; i < size; i++) view.setUint32(i * 16, first + i);
  const texts = Array.from({ length: size }, (_, i) =>
    `{"id":"${first + i}","content":"`.padEnd(TEXT_BYTES - 2, "x").concat('"}'),
  );
  native.append(PROJECT, dimension, {
    ids,
    vectors: vectors.slice(first * dimension, (first + size) * dimension),
    rendered: encoder.encode(texts.join("")),
    renderedEnds: Uint32Array.from(texts, (_, i) => (i + 1) * TEXT_BYTES),
  });
}
const appendSeconds = secondsSince(started);
started = performance.now();
testing.maintainSync(PROJECT, dimension);
const graphSeconds = secondsSince(started);

const shares = [1, 0.5, 0.1, 0.02, 0.005];
for (const share of shares) {
  const ranges: number[] = [];
  for (let i = 0; i < count; i++) {
    // A multiplicative hash spreads the members evenly.
    if ((Math.imul(i, 2654435761) >>> 0) / 2 ** 32 < share) ranges.push(i, 1);
  }
  native.setScope(PROJECT, `s${share}`, [{ dimension, ranges: Uint32Array.from(ranges) }]);
}

function recallIn(scope: string): { recall: number; plan: string } {
  let found = 0;
  let wanted = 0;
  const plans = new Set<string>();
  for (const query of queries.slice(0, RECALL_QUERIES)) {
    const truth = testing.exactSearch(PROJECT, scope, query, dimension, NEIGHBOURS, -1);
    const answer = testing.searchRaw(PROJECT, scope, query, dimension, NEIGHBOURS, -1);
    const minScore = (truth.scores[truth.scores.length - 1] ?? 0) - 1e-9;
    wanted += truth.scores.length;
    found += answer.scores.filter((score) => score >= minScore).length;
    plans.add(answer.plan);
  }
  return { recall: found / wanted, plan: [...plans].join("+") };
}

const window = native.stats(PROJECT)?.dimensions[0]?.window;
console.log(`\n${count} x ${dimension}, ${options.data}, 10 results, window ${window}\n`);
printRow("scope", "plan", "recall@10", "search us", "searchJson us");
printRow("---", "---", "--:", "--:", "--:");
let whole = 0;
let searchOnly = 0;
for (const share of shares) {
  const scope = `s${share}`;
  const { recall, plan } = recallIn(scope);
  const raw = cpuMicroseconds((query) => {
    testing.searchRaw(PROJECT, scope, queries[query]!, dimension, NEIGHBOURS, 0);
  });
  const json = cpuMicroseconds((query) => {
    native.searchJson(PROJECT, scope, bodies[query]!, "/projects/p/environments/e/search");
  });
  if (share === 1) [whole, searchOnly] = [json, raw];
  printRow(`${share * 100}%`, plan, recall.toFixed(4), raw.toFixed(1), json.toFixed(1));
}
const parse = cpuMicroseconds((query) => void testing.parseSearchBody(bodies[query]!));
const exact = cpuMicroseconds((query) => {
  if (query < 50) testing.exactSearch(PROJECT, "s1", queries[query]!, dimension, NEIGHBOURS, 0);
});
console.log(`\nparse a body of ${bodies[0]?.length} bytes: ${parse.toFixed(1)} us`);
console.log(`brute force: ${((exact * queryCount) / Math.min(50, queryCount)).toFixed(0)} us`);
console.log(`append ${appendSeconds.toFixed(1)} s, graph ${graphSeconds.toFixed(1)} s, one thread`);
const bytes = native.stats(PROJECT)?.dimensions[0]?.bytes;
for (const [part, total] of Object.entries(bytes ?? {})) {
  console.log(`${part}: ${(total / count).toFixed(0)} bytes per vector`);
}
console.log(`RSS grew by ${mebibytes(process.memoryUsage.rss() - rssBefore)} MiB`);

const directory = mkdtempSync(join(tmpdir(), "native-search-"));
started = performance.now();
testing.snapshotSync(PROJECT, directory, new Uint8Array());
const snapshotSeconds = secondsSince(started);
native.dropProject(PROJECT);
started = performance.now();
testing.restoreSync(PROJECT, directory);
console.log(
  `snapshot ${snapshotSeconds.toFixed(2)} s, restore ${secondsSince(started).toFixed(2)} s`,
);
const restored = cpuMicroseconds((query) => {
  native.searchJson(PROJECT, "s1", bodies[query]!, "/projects/p/environments/e/search");
});
console.log(`searchJson after restore: ${restored.toFixed(1)} us`);

if (options.baseline) {
  const { Index, MetricKind, ScalarKind } = await import("usearch");
  const index = new Index({
    dimensions: dimension,
    metric: MetricKind.Cos,
    quantization: ScalarKind.BF16,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: Number(process.env.BASELINE_EXPANSION ?? 24),
    multi: false,
  });
  started = performance.now();
  for (let first = 0; first < count; first += BATCH) {
    const size = Math.min(BATCH, count - first);
    const keys = BigUint64Array.from({ length: size }, (_, i) => BigInt(first + i));
    index.add(keys, vectors.slice(first * dimension, (first + size) * dimension), 1);
  }
  const built = secondsSince(started);
  let found = 0;
  for (const query of queries.slice(0, RECALL_QUERIES)) {
    const truth = testing.exactSearch(PROJECT, "s1", query, dimension, NEIGHBOURS, -1).ordinals;
    const keys = new Set(Array.from(index.search(query, NEIGHBOURS, 1).keys, Number));
    found += truth.filter((ordinal) => keys.has(ordinal)).length;
  }
  const base = cpuMicroseconds((query) => void index.search(queries[query]!, NEIGHBOURS, 1));
  const recall = found / (RECALL_QUERIES * NEIGHBOURS);
  console.log(
    `\nusearch bf16: recall@10 ${recall.toFixed(4)}, ${base.toFixed(1)} us, built in ${built.toFixed(1)} s`,
  );
  console.log(
    `ratios to it: search ${(searchOnly / base).toFixed(2)}, searchJson ${(whole / base).toFixed(2)}`,
  );
}
rmSync(directory, { recursive: true });

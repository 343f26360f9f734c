/**
 * The native search core against USearch in bf16, in one process and one run.
 *
 *   bun bench/micro/native-search.ts [--vectors 50000] [--dimension 1536] [--queries 1000]
 *                                    [--data clusters|uniform|sparse] [--elements 384] [--no-baseline]
 *
 * It prints recall@10 against brute force and CPU time per query for each scope size, the time of each
 * stage, memory per vector, build rates, snapshot and restore times, and ratios to USearch.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { cpuMicroseconds } from "../harness/process-usage.ts";
import { mebibytes, type Output, secondsSince } from "../harness/table.ts";

export const OPTIONS = {
  vectors: 50_000,
  dimension: 1_536,
  queries: 1_000,
  data: "clusters",
  /** Elements before the zeros that fill vectors up, as those of embedders with fewer dimensions; 0 for all. */
  elements: 0,
  baseline: true,
};
type Options = typeof OPTIONS;

const NEIGHBOURS = 10;
const RECALL_QUERIES = 200;
const EXACT_QUERIES = 50;
const TEXT_BYTES = 700;
const PROJECT = "bench";
const BATCH = 2_000;
const SHARES = [1, 0.5, 0.1, 0.02, 0.005];
const SELF = "/projects/p/environments/e/search";

/** The vectors of an index, queries of them, and the queries as bodies of requests. */
interface Data {
  readonly count: number;
  readonly dimension: number;
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly queries: readonly Float32Array<ArrayBuffer>[];
  readonly bodies: readonly Uint8Array[];
}

/** Vectors with zeros from an element on. */
function filledUp(vectors: Float32Array, elements: number, dimension: number) {
  const all = new Float32Array((vectors.length / elements) * dimension);
  for (let at = 0; at * elements < vectors.length; at++) {
    all.set(vectors.subarray(at * elements, (at + 1) * elements), at * dimension);
  }
  return all;
}

function makeData(options: Options): Data {
  const { data, vectors: count, queries: queryCount, dimension } = options;
  const elements = options.elements || dimension;
  const made = makeVectors(data as DataKind, count + queryCount, elements, 1);
  const all = elements === dimension ? made : filledUp(made, elements, dimension);
  const queries = Array.from({ length: queryCount }, (_, query) =>
    all.slice((count + query) * dimension, (count + query + 1) * dimension),
  );
  const encoder = new TextEncoder();
  const bodies = queries.map((vector) =>
    encoder.encode(JSON.stringify({ vector: Array.from(vector), dimension, threshold: 0 })),
  );
  return { count, dimension, vectors: all.subarray(0, count * dimension), queries, bodies };
}

function append({ count, dimension, vectors }: Data): void {
  const encoder = new TextEncoder();
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
}

/** Builds the index and its scopes; the seconds that its parts took. */
function build(data: Data) {
  native.openProject(PROJECT);
  let started = performance.now();
  append(data);
  const appended = secondsSince(started);
  started = performance.now();
  testing.maintainSync(PROJECT, data.dimension);
  const graphed = secondsSince(started);
  for (const share of SHARES) {
    const ranges: number[] = [];
    for (let i = 0; i < data.count; i++) {
      // A multiplicative hash spreads the members evenly.
      if ((Math.imul(i, 2654435761) >>> 0) / 2 ** 32 < share) ranges.push(i, 1);
    }
    const scope = { dimension: data.dimension, ranges: Uint32Array.from(ranges) };
    native.setScope(PROJECT, `s${share}`, [scope]);
  }
  return { appended, graphed };
}

function recallIn({ queries, dimension }: Data, scope: string) {
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

/** CPU microseconds of a search whose body is JSON and whose answer is rendered. */
const jsonCost = ({ bodies }: Data, scope: string) =>
  cpuMicroseconds(bodies.length, (query) => {
    const body = bodies[query] as Uint8Array;
    native.search({ project: PROJECT, scope, body, selfPath: SELF });
  });

function measureScope(data: Data, share: number) {
  const { queries, dimension } = data;
  const scope = `s${share}`;
  const search = cpuMicroseconds(queries.length, (query) => {
    const vector = queries[query] as Float32Array<ArrayBuffer>;
    testing.searchRaw(PROJECT, scope, vector, dimension, NEIGHBOURS, 0);
  });
  return { share, ...recallIn(data, scope), search, json: jsonCost(data, scope) };
}

/** CPU microseconds of parsing a body, and of brute force. */
function measureStages({ queries, bodies, dimension }: Data) {
  const parse = cpuMicroseconds(bodies.length, (query) => {
    testing.parseSearchBody(bodies[query] as Uint8Array);
  });
  const exact = cpuMicroseconds(Math.min(EXACT_QUERIES, queries.length), (query) => {
    const vector = queries[query] as Float32Array<ArrayBuffer>;
    testing.exactSearch(PROJECT, "s1", vector, dimension, NEIGHBOURS, 0);
  });
  return { parse, exact };
}

function measureSnapshot(data: Data) {
  const directory = mkdtempSync(join(tmpdir(), "native-search-"));
  let started = performance.now();
  testing.snapshotSync(PROJECT, directory, new Uint8Array());
  const written = secondsSince(started);
  native.dropProject(PROJECT);
  started = performance.now();
  testing.restoreSync(PROJECT, directory);
  const restored = secondsSince(started);
  const json = jsonCost(data, "s1");
  const { recall } = recallIn(data, "s1");
  rmSync(directory, { recursive: true });
  return { written, restored, json, recall };
}

/** USearch in bf16 over the same vectors. */
async function measureBaseline({ count, dimension, vectors, queries }: Data) {
  const { Index, MetricKind, ScalarKind } = await import("usearch");
  const index = new Index({
    dimensions: dimension,
    metric: MetricKind.Cos,
    quantization: ScalarKind.BF16,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: Number(process.env["BASELINE_EXPANSION"] ?? 24),
    multi: false,
  });
  const started = performance.now();
  for (let first = 0; first < count; first += BATCH) {
    const size = Math.min(BATCH, count - first);
    const keys = BigUint64Array.from({ length: size }, (_, i) => BigInt(first + i));
    index.add(keys, vectors.slice(first * dimension, (first + size) * dimension), 1);
  }
  const built = secondsSince(started);
  let found = 0;
  const asked = queries.slice(0, RECALL_QUERIES);
  for (const query of asked) {
    const truth = testing.exactSearch(PROJECT, "s1", query, dimension, NEIGHBOURS, -1).ordinals;
    const keys = new Set(Array.from(index.search(query, NEIGHBOURS, 1).keys, Number));
    found += truth.filter((ordinal) => keys.has(ordinal)).length;
  }
  const search = cpuMicroseconds(queries.length, (query) => {
    index.search(queries[query] as Float32Array, NEIGHBOURS, 1);
  });
  return { recall: found / (asked.length * NEIGHBOURS), search, built };
}

type Scope = ReturnType<typeof measureScope>;

function printScopes(out: Output, options: Options, scopes: readonly Scope[]): void {
  const window = native.stats(PROJECT)?.dimensions[0]?.window;
  const { vectors, dimension, data } = options;
  out.line(`\n${vectors} x ${dimension}, ${data}, 10 results, window ${window}`);
  out.head("scope", "plan", "recall@10", "search us", "search of JSON us");
  for (const { share, plan, recall, search, json } of scopes) {
    out.row(`${share * 100}%`, plan, recall.toFixed(4), search.toFixed(1), json.toFixed(1));
  }
}

function printBaseline(
  out: Output,
  whole: Scope,
  { recall, search, built }: Awaited<ReturnType<typeof measureBaseline>>,
): void {
  out.line(
    `\nusearch bf16: recall@10 ${recall.toFixed(4)}, ${search.toFixed(1)} us, built in ${built.toFixed(1)} s`,
  );
  const [raw, json] = [whole.search / search, whole.json / search];
  out.line(`ratios to it: search ${raw.toFixed(2)}, search of JSON ${json.toFixed(2)}`);
}

export async function run(options: Options, { out }: BenchContext) {
  const data = makeData(options);
  const rssBefore = process.memoryUsage.rss();
  const { appended, graphed } = build(data);
  const scopes = SHARES.map((share) => measureScope(data, share));
  printScopes(out, options, scopes);
  const { parse, exact } = measureStages(data);
  out.line(`\nparse a body of ${data.bodies[0]?.length} bytes: ${parse.toFixed(1)} us`);
  out.line(`brute force: ${exact.toFixed(0)} us`);
  out.line(`append ${appended.toFixed(1)} s, graph ${graphed.toFixed(1)} s, one thread`);
  const bytes: Record<string, number> = { ...native.stats(PROJECT)?.dimensions[0]?.bytes };
  for (const [part, total] of Object.entries(bytes)) {
    out.line(`${part}: ${(total / data.count).toFixed(0)} bytes per vector`);
  }
  out.line(`RSS grew by ${mebibytes(process.memoryUsage.rss() - rssBefore)} MiB`);
  const snapshot = measureSnapshot(data);
  const { written, restored } = snapshot;
  out.line(`snapshot ${written.toFixed(2)} s, restore ${restored.toFixed(2)} s`);
  out.line(`search of JSON after restore: ${snapshot.json.toFixed(1)} us`);
  const baseline = options.baseline ? await measureBaseline(data) : undefined;
  if (baseline !== undefined) printBaseline(out, scopes[0] as Scope, baseline);
  native.dropProject(PROJECT);
  return { scopes, bytes, snapshot, baseline };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * What a retrieval costs beside its parts: vector searches, lookups and the three modes, over HTTP, with the
 * same queries in turns. The embedder is feature hashing.
 *
 *   bun bench/knowledge/modes.ts [--folder FOLDER] [--documents 0] [--requests 2000] [--clients 1,8] [--rounds 3]
 *
 * Documents are those of the folder, or assembled from them with `--documents`. CPU is that of the server's
 * process. `hybrid` is compared with the sum of a search and a lookup, the other modes with one of them.
 */

import type { Sql } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { embed } from "../../src/embed/embedders/feature-hashing.ts";
import type { KnowledgeDocument } from "../../src/index/segments/index.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { Random } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { type Latencies, Load } from "../harness/load/load.ts";
import { Api, keyedRequest } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { KINDS, knownItemQueries } from "../relevance/queries.ts";
import { synthesise } from "../relevance/synthesise.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: 0,
  requests: 2_000,
  clients: "1,8",
  rounds: 3,
};
type Options = typeof OPTIONS;

export const PROJECT = "/projects/modes";
const SEED = 2;
/** As many queries as the service keeps embedded for a project: embedding is measured elsewhere. */
const QUERIES = 60;
const LIMIT = 10;
const DIMENSION = 768;
/** Documents that are imported at once. */
const BATCH_DOCUMENTS = 1_000;
const POLL_MS = 50;
/** Changes are visible within a second. */
const VISIBLE_MS = 1_000;

export const OPERATIONS = ["search", "lookup", "semantic", "keyword", "hybrid"] as const;
export type OperationName = (typeof OPERATIONS)[number];

/** Medians over the rounds. Times are milliseconds. */
type Figures = Pick<Latencies, "qps" | "p50" | "p99" | "cpu">;

interface Measured extends Figures {
  readonly clients: number;
  readonly operation: OperationName;
}

function bodyOf(operation: OperationName, query: string): { path: string; body: object } {
  if (operation === "lookup") return { path: "knowledge/lookup", body: { query, limit: LIMIT } };
  if (operation !== "search") {
    return { path: "retrieve", body: { query, mode: operation, limit: LIMIT, threshold: 0 } };
  }
  const vector = base64Of(embed(query) as Float32Array<ArrayBuffer>);
  const body = { vector, dimension: DIMENSION, limit: LIMIT, threshold: 0 };
  return { path: "environments/production/search", body };
}

/** The record of the Markdown file from which the document could have been read. */
function recordOf({ path, frontmatter, headings, content }: KnowledgeDocument): string {
  const yaml = frontmatter.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`);
  const titles = headings.map((heading) => `## ${heading}`);
  const text = ["---", ...yaml, "---", "", ...titles, "", content, ""].join("\n");
  return JSON.stringify({ record: "file", path, content: text, environments: ["production"] });
}

/** A project with these files, once all their embeddings can be searched. */
export async function fill(
  context: BenchContext,
  { folder, documents }: Pick<Options, "folder" | "documents">,
) {
  const { env, sql } = await context.openDatabase();
  return await fillServer(await context.startServer(env), sql, { folder, documents });
}

/** The same in a service that runs. */
export async function fillServer(
  server: BenchServer,
  sql: Sql,
  { folder, documents: count }: Pick<Options, "folder" | "documents">,
) {
  const { key } = await addApiKey(sql, await addUser(sql));
  const api = new Api(server.url, key);
  await api.call("POST", "/projects", { name: "Modes", slug: "modes", embedder: "hashing" });
  const corpus = readCorpus(folder);
  const documents = count === 0 ? corpus : synthesise(corpus, count, SEED);
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const records = documents
      .slice(at, at + BATCH_DOCUMENTS)
      .map(recordOf)
      .join("\n");
    await api.call("POST", `${PROJECT}/import`, records, "application/x-ndjson");
  }
  const state = () => api.call<{ embeddings_waiting: number }>("GET", `${PROJECT}/index-state`);
  while ((await state()).embeddings_waiting > 0) await Bun.sleep(POLL_MS);
  await Bun.sleep(VISIBLE_MS);
  const perKind = Math.ceil(QUERIES / KINDS.length) * 2;
  const texts = knownItemQueries(documents, SEED, perKind).map(({ text }) => text);
  const queries = new Random(SEED).sample([...new Set(texts)], QUERIES);
  return { server, key, queries, documents: documents.length };
}

/** Ready-made requests of every operation. */
export function requestsOf({ server, key, queries }: Awaited<ReturnType<typeof fill>>) {
  const requests = OPERATIONS.map((operation) => {
    const own = queries.map((query) => {
      const { path, body } = bodyOf(operation, query);
      return keyedRequest(server, "POST", `${PROJECT}/${path}`, key, JSON.stringify(body));
    });
    return [operation, own] as const;
  });
  return Object.fromEntries(requests) as Record<OperationName, Uint8Array[]>;
}

const medianOf = (runs: readonly Latencies[], figure: keyof Figures) =>
  median(runs.map((run) => run[figure]));

async function measure(
  { requests, rounds }: Options,
  server: BenchServer,
  payloads: Record<OperationName, Uint8Array[]>,
  load: Load,
  clients: number,
): Promise<Measured[]> {
  const runs = new Map<OperationName, Latencies[]>(OPERATIONS.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const operation of OPERATIONS) {
      const latencies = await load.measure(server, clients, requests, payloads[operation]);
      // The first round compiles the code and fills the caches.
      if (round > 0) runs.get(operation)?.push(latencies);
    }
  }
  return OPERATIONS.map((operation) => {
    const own = runs.get(operation) as Latencies[];
    const of = (figure: keyof Figures) => medianOf(own, figure);
    return { clients, operation, qps: of("qps"), p50: of("p50"), p99: of("p99"), cpu: of("cpu") };
  });
}

/** What the parts of an operation take together, by CPU. */
function partsOf(operation: OperationName, all: readonly Measured[]): number {
  const cpuOf = (name: OperationName) => all.find((row) => row.operation === name)?.cpu as number;
  if (operation === "hybrid") return cpuOf("search") + cpuOf("lookup");
  return cpuOf(operation === "search" || operation === "semantic" ? "search" : "lookup");
}

export async function run(options: Options, context: BenchContext): Promise<Measured[]> {
  const { out } = context;
  const filled = await fill(context, options);
  const payloads = requestsOf(filled);
  const load = new Load();
  const results: Measured[] = [];
  out.line(`${filled.documents} documents`);
  out.head("", "clients", "per second", "p50, ms", "p99, ms", "CPU, ms", "CPU to its parts");
  for (const clients of options.clients.split(",").map(Number)) {
    const measured = await measure(options, filled.server, payloads, load, clients);
    for (const { operation, qps, p50, p99, cpu } of measured) {
      const times = [p50, p99, cpu].map((time) => time.toFixed(2));
      const parts = partsOf(operation, measured);
      // The clock of the processor's time may not have ticked in a short run.
      const ratio = parts > 0 ? (cpu / parts).toFixed(2) : "-";
      out.row(operation, clients, qps.toFixed(0), ...times, ratio);
    }
    results.push(...measured);
  }
  await filled.server.stop();
  return results;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

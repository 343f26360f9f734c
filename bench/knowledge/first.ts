/**
 * Lookups from the first request of a new process on, over HTTP by one client, none of them twice.
 *
 *   bun bench/knowledge/first.ts [--folder FOLDER] [--documents 759,20000,100000] [--requests 2000]
 *                                [--starts 1]
 *
 * Documents are those of the folder, or assembled from them where more are wanted. The service is started
 * with them in its database, `--starts` times, and asked as soon as it is ready. The same queries once
 * more, when all code is compiled, are the baseline.
 */
import { addApiKey, addUser } from "../../support/accounts.ts";
import { Random } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { type Latencies, LoadGenerator } from "../harness/load.ts";
import { postRequest } from "../harness/server.ts";
import { quantile } from "../harness/statistics.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { KINDS, knownItemQueries } from "../relevance/queries.ts";
import { synthesise } from "../relevance/synthesise.ts";
import { sourceOf, writeFiles, writeProject } from "./world.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  documents: "759,20000,100000",
  requests: 2_000,
  starts: 1,
};
type Options = typeof OPTIONS;

const SEED = 2;
/** Requests that meet code which has not been compiled. */
const EARLY = 100;

function documentsOf({ folder }: Options, count: number) {
  const corpus = readCorpus(folder);
  if (count > corpus.length) return synthesise(corpus, count, SEED);
  return new Random(SEED).sample(corpus, count);
}

/** Different queries of all kinds in random order. */
function queriesOf(documents: ReturnType<typeof documentsOf>, count: number): string[] {
  const perKind = Math.ceil((count / KINDS.length) * 1.5);
  const texts = knownItemQueries(documents, SEED, perKind).map(({ text }) => text);
  return new Random(SEED).sample([...new Set(texts)], count);
}

/** A row of latencies, of which the first hundred are shown apart. */
function row({ out }: BenchContext, what: string, { times, cpu }: Latencies): void {
  const early = times.subarray(0, EARLY);
  const of = (list: Float64Array, share: number) => quantile(list, share).toFixed(2);
  const whole = [0.5, 0.9, 0.99, 1].map((share) => of(times, share));
  out.row(what, ...whole, of(early, 0.5), of(early, 1), cpu.toFixed(2));
}

/** Asks a service that has just started, which has these documents in its database. */
async function measureStart(
  options: Options,
  context: BenchContext,
  database: { env: Record<string, string>; key: string; path: string },
  queries: readonly string[],
) {
  const load = new LoadGenerator();
  const bare = await context.startBaseline("bench/knowledge/bare.ts");
  const bareServer = { url: new URL(bare.url), pid: bare.pid };
  const requestsTo = (server: { url: URL }) =>
    queries.map((query) =>
      postRequest(server, database.path, database.key, JSON.stringify({ query })),
    );
  // Compiles the client.
  await load.run(bareServer, 1, options.requests * 2, requestsTo(bareServer));
  const baseline = await load.run(bareServer, 1, options.requests, requestsTo(bareServer));
  const server = await context.startServer(database.env);
  const payloads = requestsTo(server);
  const first = await load.run(server, 1, payloads.length, payloads);
  const again = await load.run(server, 1, payloads.length, payloads);
  await server.stop();
  return { startSeconds: server.startSeconds, baseline, first, again };
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  const results = [];
  out.head(
    "",
    "p50, ms",
    "p90",
    "p99",
    "slowest",
    `p50 of the first ${EARLY}`,
    "their slowest",
    "CPU",
  );
  for (const count of options.documents.split(",").map(Number)) {
    const { env, sql } = await context.openDatabase();
    const userId = await addUser(sql);
    const { key } = await addApiKey(sql, userId);
    const project = await writeProject(sql, userId, "first");
    const documents = documentsOf(options, count);
    await writeFiles(sql, project, documents.map(sourceOf));
    const queries = queriesOf(documents, options.requests);
    for (let start = 0; start < options.starts; start++) {
      const database = { env, key, path: project.lookupPath };
      const result = await measureStart(options, context, database, queries);
      const { baseline, first, again, startSeconds } = result;
      row(context, `${count} documents, ${queries.length} queries from the start on`, first);
      row(context, "the same queries again", again);
      row(context, "a bare server", baseline);
      out.line(`started in ${startSeconds.toFixed(2)} s`);
      results.push({ count, queries: queries.length, ...result });
    }
  }
  return results;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

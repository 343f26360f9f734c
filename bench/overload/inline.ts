/**
 * What searches on the main thread do to other requests, for several values of SEARCH_INLINE_MS.
 *
 *   bun bench/overload/inline.ts [--chunks 4000] [--dimension 4096] [--bounds 0,0.25,0.5,1,2]
 *                                [--clients 16] [--rate 200] [--seconds 5] [--rounds 5]
 *
 * One service per value, all on one database. In each round they take turns: first one client searches
 * alone, then `--clients` clients search without a pause while another asks for error types, `--rate` per
 * second, which take next to no time themselves. The default scope takes 0.3 ms to
 * search. Medians of the rounds; the ratios are to the first value of the same run.
 */
import { loadavg } from "node:os";
import { type BenchContext, runBenchmark } from "../../support/bench/context.ts";
import type { BenchDatabase } from "../../support/bench/database.ts";
import { type BenchServer, postRequest } from "../../support/bench/server.ts";
import type { Output } from "../../support/bench/table.ts";
import { quantile } from "../../support/statistics.ts";
import { makeWorld, searchPath, type World, writeWorld } from "../search/world.ts";
import { Load } from "./load.ts";
import type { StreamResult } from "./load-process.ts";

export const OPTIONS = {
  chunks: 4_000,
  dimension: 4_096,
  bounds: "0,0.25,0.5,1,2",
  clients: 16,
  rate: 200,
  seconds: 5,
  rounds: 5,
};
type Options = typeof OPTIONS;

const QUERIES = 100;

interface Service {
  readonly bound: string;
  readonly server: BenchServer;
  readonly searches: readonly Uint8Array[];
  readonly reads: readonly Uint8Array[];
  readonly rounds: Round[];
}

interface Round {
  readonly aloneP50: number;
  readonly searchesPerSecond: number;
  readonly searchP99: number;
  readonly readP50: number;
  readonly readP99: number;
}

async function startService(
  bound: string,
  { url }: BenchDatabase,
  world: World,
  context: BenchContext,
): Promise<Service> {
  // Each has a data folder of its own.
  const variables = { DATABASE_URL: url, LOG_LEVEL: "fatal", SEARCH_INLINE_MS: bound };
  const server = await context.startServer(variables);
  const bodies = world.queries.map((vector) => {
    const value = Buffer.from(vector.buffer).toString("base64");
    return JSON.stringify({ vector: value, dimension: world.dimension, threshold: 0 });
  });
  // The first search loads the index, which is not what is measured here.
  const headers = { "Content-Type": "application/json", "X-API-Key": world.apiKey };
  const first = await fetch(new URL(searchPath(1), server.url), {
    ...{ method: "POST", headers, body: bodies[0] as string },
  });
  if (!first.ok) throw new Error(`the first search was answered with ${first.status}`);
  const searches = bodies.map((body) => postRequest(server, searchPath(1), world.apiKey, body));
  const head = `GET /errors/overloaded HTTP/1.1\r\nHost: ${server.url.host}\r\n`;
  const read = Buffer.from(`${head}X-API-Key: ${world.apiKey}\r\n\r\n`);
  return { bound, server, searches, reads: [read], rounds: [] };
}

async function measure(
  load: Load,
  { server, searches, reads }: Service,
  { seconds, clients, rate }: Options,
): Promise<Round> {
  const { url } = server;
  const [alone] = (await load.run(url, seconds, [{ payloads: searches, clients: 1 }])) as [
    StreamResult,
  ];
  const [many, few] = (await load.run(url, seconds, [
    { payloads: searches, clients },
    { payloads: reads, rate },
  ])) as [StreamResult, StreamResult];
  const failed = alone.failed + many.failed + many.refused + few.failed + few.refused;
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return {
    aloneP50: quantile(alone.latencies, 0.5),
    searchesPerSecond: many.answered / seconds,
    searchP99: quantile(many.latencies, 0.99),
    readP50: quantile(few.latencies, 0.5),
    readP99: quantile(few.latencies, 0.99),
  };
}

interface Figures extends Round {
  readonly bound: string;
  /** The p99 of reads, of that of the first bound. */
  readonly ratio: number;
}

/** The medians of the rounds of each service. */
function figuresOf(services: readonly Service[]): Figures[] {
  const medians = services.map(({ bound, rounds }) => {
    const medianOf = (name: keyof Round) =>
      quantile(
        Float64Array.from(rounds, (round) => round[name]),
        0.5,
      );
    return {
      bound,
      aloneP50: medianOf("aloneP50"),
      searchesPerSecond: medianOf("searchesPerSecond"),
      searchP99: medianOf("searchP99"),
      readP50: medianOf("readP50"),
      readP99: medianOf("readP99"),
    };
  });
  const [first] = medians;
  return medians.map((each) => ({ ...each, ratio: each.readP99 / (first?.readP99 ?? Number.NaN) }));
}

function print(out: Output, figures: readonly Figures[]): void {
  out.head(
    ...["SEARCH_INLINE_MS", "alone p50, ms", "searches/s", "search p99, ms"],
    ...["read p50, ms", "read p99, ms", "read p99, ratio"],
  );
  for (const {
    bound,
    aloneP50,
    searchesPerSecond,
    searchP99,
    readP50,
    readP99,
    ratio,
  } of figures) {
    const perSecond = searchesPerSecond.toFixed(0);
    const times = [readP50, readP99, ratio].map((value) => value.toFixed(2));
    out.row(bound, aloneP50.toFixed(2), perSecond, searchP99.toFixed(1), ...times);
  }
  const averages = loadavg().map((average) => average.toFixed(1));
  out.line(`\nload average: ${averages.join(" ")}`);
}

export async function run(options: Options, context: BenchContext): Promise<Figures[]> {
  const world = makeWorld(options.chunks, QUERIES, options.dimension);
  const database = await context.openDatabase();
  await writeWorld(database.sql, world);
  const services: Service[] = [];
  for (const bound of options.bounds.split(",")) {
    services.push(await startService(bound, database, world, context));
  }
  const load = new Load();
  for (let round = 0; round < options.rounds; round++) {
    for (const service of services) service.rounds.push(await measure(load, service, options));
  }
  const figures = figuresOf(services);
  print(context.out, figures);
  for (const { server } of services) await server.stop();
  return figures;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

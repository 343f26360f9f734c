/**
 * How long requests fail after each fault of what the service depends on.
 *
 *   bun bench/nodes/outages.ts [--chunks 2000] [--away 3] [--after 6]
 *
 * A real server on a PostgreSQL and a Redis of its own, and an embedder that this program plays. One client for each
 * kind of request asks all the time, and every query is new. Each fault lasts `--away` seconds, or as long as what
 * was killed takes to start again; requests are counted until `--after` seconds later.
 */
import { loadavg } from "node:os";
import { startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";
import { startOwnPostgres } from "../../support/processes/own-postgres.ts";
import { crashingAt } from "../../support/processes/process.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { isSuccess, record, Sent } from "../harness/load/sent.ts";
import { keyedRequest, rawRequest } from "../harness/requests.ts";
import { untilComplete } from "./until.ts";
import { searchOf, searchOnce, writeProjects } from "./world.ts";

export const OPTIONS = { chunks: 2_000, away: 3, after: 6 };
type Options = typeof OPTIONS;

const DIMENSION = 768;
const PAUSE_MS = 20;
const MARKDOWN = "text/markdown";

/** What the requests of a kind saw of a fault. */
interface Outage {
  readonly fault: string;
  readonly kind: string;
  readonly asked: number;
  readonly refused: number;
  /** Those with any other status, or none. */
  readonly failed: number;
  /** Seconds from the fault to the last answer that was no success; 0 without one. */
  readonly seconds: number;
  /** Seconds from the end of the fault to that answer, at least 0. */
  readonly secondsAfter: number;
  /** Milliseconds of the slowest answer. */
  readonly slowest: number;
}

/** Makes the next request of each kind. */
type Kinds = Readonly<Record<string, () => Uint8Array>>;

/** @param from,to the fault, in milliseconds since the requests began */
function outageOf(fault: string, kind: string, sent: Sent, from: number, to: number): Outage {
  const { requests, refused, failed } = sent;
  const bad = requests.filter((request) => !isSuccess(request));
  const last = Math.max(from, ...bad.map(({ ended }) => ended));
  return {
    fault,
    kind,
    asked: requests.length,
    refused,
    failed,
    seconds: (last - from) / 1_000,
    secondsAfter: Math.max(0, last - to) / 1_000,
    slowest: Math.max(...requests.map(({ sent: sentAt, ended }) => ended - sentAt)),
  };
}

async function startWorld(context: BenchContext, chunks: number) {
  const [postgres, redis, endpoint] = [
    await startOwnPostgres(),
    await startRedis(),
    startEmbeddingEndpoint(),
  ];
  const { sql } = postgres;
  const { apiKey, projects } = await writeProjects(sql, [chunks], DIMENSION);
  const [project] = projects as [(typeof projects)[number]];
  await sql`UPDATE chunks SET embedder = 'model:m:768'`;
  await sql`UPDATE projects SET embedder = 'model:m:768' WHERE id = ${project.id}`;
  const model = { url: endpoint.url, model: "m", dimension: DIMENSION };
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    SEARCH_WORKERS: "1",
    EMBEDDERS: JSON.stringify({ model }),
  };
  const server = await context.startServer(env, crashingAt("indexing.rebuild"));
  const base = `/projects/${project.id}`;
  let n = 0;
  const post = (path: string, body: object) =>
    keyedRequest(server, "POST", base + path, apiKey, JSON.stringify(body));
  const retrieve = (mode: string) => post("/retrieve", { query: `question ${n++}`, mode });
  const kinds: Kinds = {
    search: () => searchOf(server, apiKey, project, n++),
    lookup: () => post("/knowledge/lookup", { query: `word ${n++}` }),
    "retrieval by meaning": () => retrieve("semantic"),
    "hybrid retrieval": () => retrieve("hybrid"),
    "list of files": () =>
      rawRequest(server, "GET", `${base}/files?limit=1`, { "x-api-key": apiKey }),
    write: () =>
      keyedRequest(server, "PUT", `${base}/files/w${n++ % 50}.md`, apiKey, `# ${n}`, MARKDOWN),
  };
  return { postgres, redis, endpoint, project, server, apiKey, kinds };
}

export async function run(
  { chunks, away, after }: Options,
  context: BenchContext,
): Promise<Outage[]> {
  const world = await startWorld(context, chunks);
  const { postgres, redis, endpoint, project, server, apiKey, kinds } = world;
  await searchOnce(server.url, apiKey, project);
  await untilComplete(server);
  const pause = () => Bun.sleep(away * 1_000);
  const faults: Readonly<Record<string, () => Promise<unknown>>> = {
    "PostgreSQL is killed": () => postgres.crash(),
    "PostgreSQL does not answer": async () => {
      await using _frozen = await postgres.freeze();
      await pause();
    },
    "Redis is killed": async () => {
      await using _killed = await redis.kill();
      await pause();
    },
    "the embedder is away": async () => {
      endpoint.instead = () => new Response("", { status: 503 });
      await pause();
      endpoint.instead = undefined;
    },
    "the indexing thread crashes": () =>
      postgres.sql`SELECT append_change(${project.id}, 'rebuild', ${project.id})`,
  };
  context.out.line(`faults of ${away} s, load of the machine ${loadavg()[0]?.toFixed(1)}`);
  context.out.head(
    "fault",
    "request",
    "asked",
    "503",
    "other failures",
    "until, s",
    "after its end, s",
    "slowest, ms",
  );
  const outages: Outage[] = [];
  for (const [fault, begin] of Object.entries(faults)) {
    let isOver = false;
    const arrival = { kind: "closed", clients: 1, pauseMs: PAUSE_MS } as const;
    const started = performance.now();
    const asking = Object.entries(kinds).map(async ([kind, next]) => {
      const recorded = await record(server.url, { arrival, isOver: () => isOver }, next);
      return [kind, Sent.of(recorded)] as const;
    });
    await Bun.sleep(PAUSE_MS * 5);
    const from = performance.now() - started;
    await begin();
    const to = performance.now() - started;
    await Bun.sleep(after * 1_000);
    isOver = true;
    for (const [kind, sent] of await Promise.all(asking)) {
      const outage = outageOf(fault, kind, sent, from, to);
      const { refused, failed, seconds, secondsAfter, slowest } = outage;
      const times = [seconds.toFixed(2), secondsAfter.toFixed(2), slowest.toFixed(0)];
      context.out.row(fault, kind, outage.asked, refused, failed, ...times);
      outages.push(outage);
    }
  }
  await server.stop();
  return outages;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

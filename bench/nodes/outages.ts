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
import { startRedis } from "../../support/processes/redis.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { searchOnce } from "./steady-load.ts";
import { untilComplete } from "./until.ts";
import { writeProjects } from "./world.ts";

export const OPTIONS = { chunks: 2_000, away: 3, after: 6 };
type Options = typeof OPTIONS;

const DIMENSION = 768;
const PAUSE_MS = 20;

/** A request, when it was sent and answered, and whether with a success. */
interface Asked {
  readonly kind: string;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
}

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

type Kinds = Readonly<Record<string, () => Promise<number>>>;

/** Asks each kind all the time until `isOver`. */
async function askAll(kinds: Kinds, isOver: () => boolean): Promise<Asked[]> {
  const asked: Asked[] = [];
  const loop = async ([kind, ask]: [string, () => Promise<number>]) => {
    while (!isOver()) {
      const sentAt = performance.now();
      const status = await ask().catch(() => 0);
      asked.push({ kind, sentAt, answeredAt: performance.now(), status });
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all(Object.entries(kinds).map(loop));
  return asked;
}

const isSuccess = ({ status }: Asked) => status >= 200 && status < 300;

function outageOf(
  fault: string,
  kind: string,
  asked: readonly Asked[],
  from: number,
  to: number,
): Outage {
  const own = asked.filter((each) => each.kind === kind);
  const bad = own.filter((each) => !isSuccess(each));
  const refused = bad.filter(({ status }) => status === 503).length;
  const last = Math.max(from, ...bad.map(({ answeredAt }) => answeredAt));
  return {
    ...{ fault, kind, asked: own.length, refused, failed: bad.length - refused },
    seconds: (last - from) / 1_000,
    secondsAfter: Math.max(0, last - to) / 1_000,
    slowest: Math.max(...own.map(({ sentAt, answeredAt }) => answeredAt - sentAt)),
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
  const server = await context.startServer({
    ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url, SEARCH_WORKERS: "1" },
    ...{ EMBEDDERS: JSON.stringify({ model }), TESSERA_FAILPOINTS: "indexing.rebuild" },
  });
  const base = `${server.url.origin}/projects/${project.id}`;
  let n = 0;
  const send = async (method: string, path: string, body?: string, type = "application/json") => {
    const headers = { "x-api-key": apiKey, "content-type": type };
    const answer = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const retrieve = (mode: string) =>
    send("POST", "/retrieve", JSON.stringify({ query: `question ${n++}`, mode }));
  const kinds: Kinds = {
    search: () => searchOnce(server.url.origin, apiKey, project, project.queries[n++ % 8] as never),
    lookup: () => send("POST", "/knowledge/lookup", JSON.stringify({ query: `word ${n++}` })),
    "retrieval by meaning": () => retrieve("semantic"),
    "hybrid retrieval": () => retrieve("hybrid"),
    "list of files": () => send("GET", "/files?limit=1"),
    write: () => send("PUT", `/files/w${n++ % 50}.md`, `# ${n}`, "text/markdown"),
  };
  return { postgres, redis, endpoint, project, server, kinds };
}

export async function run(
  { chunks, away, after }: Options,
  context: BenchContext,
): Promise<Outage[]> {
  const { postgres, redis, endpoint, project, server, kinds } = await startWorld(context, chunks);
  await kinds["search"]?.();
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
    const asking = askAll(kinds, () => isOver);
    await Bun.sleep(PAUSE_MS * 5);
    const from = performance.now();
    await begin();
    const to = performance.now();
    await Bun.sleep(after * 1_000);
    isOver = true;
    const asked = await asking;
    for (const kind of Object.keys(kinds)) {
      const outage = outageOf(fault, kind, asked, from, to);
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

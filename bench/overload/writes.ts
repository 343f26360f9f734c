/**
 * What a flood of large files costs another user, and what it leaves behind: the built-in embedder embeds them.
 *
 *   bun bench/overload/writes.ts [--clients 16] [--seconds 5] [--bytes 900000] [--rate 100]
 *
 * The real server on an embedded PostgreSQL; the clients share the machine with it. Each file is another one, with
 * words of its own. A flood ends with its last answer. The service is idle once it has used less than a fifth
 * of a core for a second.
 */
import { loadavg } from "node:os";
import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import type { Sent } from "../harness/load/sent.ts";
import { closed, open } from "../harness/load/streams.ts";
import { Api, keyedRequest } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";

export const OPTIONS = { clients: 16, seconds: 5, bytes: 900_000, rate: 100 };
type Options = typeof OPTIONS;

/** Different files of the flood; each request of them after the first has no effect. */
const FILES = 64;
const SMALL_FILES = 20;
const WINDOW_MS = 250;
const QUIET_WINDOWS = 4;
const QUIET_SHARE = 0.2;
const IDLE_MAX_MS = 120_000;

interface Owner {
  readonly key: string;
  readonly project: string;
}

async function addOwner({ url }: BenchServer, sql: Sql): Promise<Owner> {
  const { key } = await addApiKey(sql, await addUser(sql));
  const project = `p-${crypto.randomUUID()}`;
  const body = { name: "Project", slug: project, embedder: "hashing" };
  await new Api(url, key).call("POST", "/projects", body);
  return { key, project };
}

function putRequest(server: BenchServer, { key, project }: Owner, name: string, text: string) {
  const path = `/projects/${project}/files/${name}`;
  return keyedRequest(server, "PUT", path, key, text, "text/markdown");
}

function textOf(number: number, bytes: number): string {
  const words = Array.from({ length: bytes / 8 }, (_, i) =>
    (((number + 1) * 7_919 * (i % 5_000)) % 9_999_991).toString(36).padStart(7, "w"),
  );
  return `# File ${number}\n\n${words.join(" ")}`;
}

/** Files that have no embeddings yet. */
async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    SELECT count(*)::integer AS waiting FROM embedding_queue`;
  return row?.waiting ?? 0;
}

/** Milliseconds until the service has no work and has been idle for a second, without that second. */
async function untilIdle(server: BenchServer, sql: Sql): Promise<number> {
  const startedAt = performance.now();
  let quiet = 0;
  let used = server.cpuSeconds();
  // On a busy machine a service without processor time looks idle.
  const isDone = async () => quiet >= QUIET_WINDOWS && (await countWaiting(sql)) === 0;
  while (performance.now() - startedAt < IDLE_MAX_MS && !(await isDone())) {
    await Bun.sleep(WINDOW_MS);
    const now = server.cpuSeconds();
    quiet = (now - used) * 1_000 < QUIET_SHARE * WINDOW_MS ? quiet + 1 : 0;
    used = now;
  }
  return performance.now() - startedAt - quiet * WINDOW_MS;
}

export async function run(
  { clients, seconds, bytes, rate }: Options,
  { out, openDatabase, startServer }: BenchContext,
) {
  const { env, sql } = await openDatabase();
  const server = await startServer({ ...env, LOG_LEVEL: "fatal" });
  const [flooder, modest] = [await addOwner(server, sql), await addOwner(server, sql)];
  const [load, modestLoad] = [new Load(), new Load({ first: true })];
  const small = Array.from({ length: SMALL_FILES }, (_, i) =>
    putRequest(server, modest, `${i}.md`, `# River ${i}\n\nThe river ${i} flows to the lake.`),
  );
  await load.run(server.url, 1, [closed(small, 1)]);
  const body = JSON.stringify({ query: "river lake", mode: "keyword" });
  const path = `/projects/${modest.project}/retrieve`;
  const polite = open([keyedRequest(server, "POST", path, modest.key, body)], rate);
  await untilIdle(server, sql);
  const [alone] = (await modestLoad.run(server.url, seconds, [polite])) as [Sent];
  const payloads = Array.from({ length: FILES }, (_, i) =>
    putRequest(server, flooder, `${i}.md`, textOf(i, bytes)),
  );
  let memory = 0;
  const timer = setInterval(() => {
    memory = Math.max(memory, server.anonymousBytes());
  }, WINDOW_MS);
  const [[beside], [flooded]] = (await Promise.all([
    modestLoad.run(server.url, seconds, [polite]),
    load.run(server.url, seconds, [closed(payloads, clients)]),
  ])) as [[Sent], [Sent]];
  const idleMs = await untilIdle(server, sql);
  clearInterval(timer);
  const waiting = await countWaiting(sql);
  const p99 = (sent: Sent) => (sent.answered === 0 ? "-" : sent.quantile(0.99).toFixed(1));
  out.head(
    "files answered",
    "refused",
    "p99 alone, ms",
    "p99 beside, ms",
    "idle after, s",
    "files without embeddings then",
    "memory, MB",
  );
  out.row(
    flooded.answered,
    flooded.refused,
    p99(alone),
    p99(beside),
    (idleMs / 1_000).toFixed(1),
    waiting,
    (memory / 1e6).toFixed(0),
  );
  out.line(
    `\nload average: ${loadavg()
      .map((each) => each.toFixed(1))
      .join(" ")}`,
  );
  await server.stop();
  return { alone, beside, flooded, waiting };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

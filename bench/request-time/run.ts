/**
 * Where the time of a request goes: microseconds of CPU of the service per request of each kind, by parts.
 *
 *   bun bench/request-time/run.ts [--chunks 20000] [--documents 0] [--folder FOLDER] [--requests 3000] [--rounds 3]
 *
 * `all` is the CPU time of the process. `kernel` and `Bun` are that of a bare server that reads the same requests and
 * answers as many bytes. `before`, `queue`, `native` and `after` follow the main thread from its handler to the engine,
 * in the engine around the native call, in that call, and from there to the answer; searches report the stages of the
 * call. `rest` is the remainder: code around the handler, background threads and garbage collection. One client asks,
 * so the requests run on the main thread. Writes have no engine: their time in the handler, which waits for the database,
 * is not CPU time and part of the rest. The vectors are clusters, the documents those of the folder or made of them.
 */
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import { cpuTimes } from "../harness/process-usage.ts";
import { FORMS, keyedRequest, searchRequest } from "../harness/requests.ts";
import type { Address, BenchServer } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import { writesOf } from "../knowledge/half-load.ts";
import { fillServer, OPERATIONS, requestsOf } from "../knowledge/modes.ts";
import { filterOf, makeFilteredWorld, writeFilteredWorld } from "../search/filtered-world.ts";
import { makeWorld, SLUG, searchPath, untilGraphed, writeWorld } from "../search/world.ts";
import { type Parts, startStamped } from "./stamped-service.ts";

export const OPTIONS = {
  chunks: 20_000,
  documents: 0,
  folder: `${import.meta.dir}/../../fixtures/docs`,
  requests: 3_000,
  rounds: 3,
};
type Options = typeof OPTIONS;

const QUERIES = 60;
const WARM_UP_REQUESTS = 2_000;
const FILTERED_SHARES = [0.1, 0.01, 0.001] as const;
const PARTS = ["before", "queue", "native", "parse", "search", "render", "after"] as const;

/** Requests of one kind. */
interface Kind {
  readonly name: string;
  readonly requests: readonly Uint8Array[];
}

/** Microseconds per request. */
type Costs = Record<"all" | "kernel" | "Bun" | "rest" | (typeof PARTS)[number], number>;

function searchKinds(server: Address, world: Awaited<ReturnType<typeof writeWorld>>): Kind[] {
  return FORMS.map((form) => ({
    name: `search ${world.dimension}, ${form}`,
    requests: world.queries.map((query) =>
      searchRequest(server, searchPath(1, `clusters-${world.dimension}`), world.apiKey, query, {
        form,
      }),
    ),
  }));
}

function filteredKinds(
  server: Address,
  world: Awaited<ReturnType<typeof writeFilteredWorld>>,
): Kind[] {
  return FILTERED_SHARES.map((share) => ({
    name: `search 768, filtered to ${share * 100}%`,
    requests: world.queries.map((query) => {
      const body = {
        vector: [...query],
        dimension: query.length,
        threshold: 0,
        filter: filterOf(world, "unrelated", share),
      };
      const path = `/projects/${SLUG}/environments/production/search`;
      return keyedRequest(server, "POST", path, world.apiKey, JSON.stringify(body));
    }),
  }));
}

/** The mean number of bytes of the answers. */
async function answerBytes(url: URL, { requests }: Kind): Promise<number> {
  let bytes = 0;
  for (const request of requests.slice(0, QUERIES)) {
    const text = Buffer.from(request).toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    const [first = "", ...lines] = text.slice(0, end).split("\r\n");
    const [method = "", path = ""] = first.split(" ");
    const headers = Object.fromEntries(lines.map((line) => line.split(": ") as [string, string]));
    const body = Buffer.from(request).subarray(end + "\r\n\r\n".length);
    const response = await fetch(new URL(path, url), { method, headers, body });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    bytes += (await response.arrayBuffer()).byteLength;
  }
  return Math.round(bytes / Math.min(QUERIES, requests.length));
}

class Measurement {
  readonly #load = new Load();

  constructor(
    private readonly context: BenchContext,
    private readonly options: Options,
    private readonly server: BenchServer,
    private readonly takeParts: () => Parts,
  ) {}

  async costsOf(kind: Kind): Promise<Costs> {
    const bytes = await answerBytes(this.server.url, kind);
    const bare = await this.context.startBaseline("bench/search/bare.ts", String(bytes));
    for (const target of [bare, this.server]) await this.#send(target, kind, WARM_UP_REQUESTS);
    const runs: Costs[] = [];
    for (let round = 0; round < this.options.rounds; round++)
      runs.push(await this.#round(bare, kind));
    const names = Object.keys(runs[0] ?? {}) as (keyof Costs)[];
    return Object.fromEntries(
      names.map((name) => [name, median(runs.map((run) => run[name]))]),
    ) as Costs;
  }

  async #round(bare: Address, kind: Kind): Promise<Costs> {
    const { requests } = this.options;
    const floor = await this.#send(bare, kind, requests);
    this.takeParts();
    const whole = await this.#send(this.server, kind, requests);
    const parts = this.takeParts();
    const isWrite = parts.native === 0;
    const costs = Object.fromEntries(
      PARTS.map((part) => [part, isWrite ? 0 : (parts[part] * 1_000) / parts.requests]),
    ) as Record<(typeof PARTS)[number], number>;
    const all = whole.user + whole.system;
    const { before, queue, native, after } = costs;
    const rest = all - floor.user - floor.system - before - queue - native - after;
    return { all, kernel: floor.system, Bun: floor.user, ...costs, rest };
  }

  /** The CPU time of a server per request, in microseconds. */
  async #send(server: Address, { requests }: Kind, count: number) {
    const before = cpuTimes(server.pid);
    await this.#load.measure(server, 1, count, requests);
    const after = cpuTimes(server.pid);
    const perRequest = (part: "user" | "system") => ((after[part] - before[part]) * 1e6) / count;
    return { user: perRequest("user"), system: perRequest("system") };
  }
}

export async function run(options: Options, context: BenchContext): Promise<Map<string, Costs>> {
  const { out } = context;
  const { env, sql } = await context.openDatabase();
  const worlds = [];
  for (const dimension of [768, 1_536]) {
    const world = makeWorld(options.chunks, QUERIES, dimension);
    worlds.push(await writeWorld(sql, world, `clusters-${dimension}`));
  }
  const filtered = await writeFilteredWorld(
    sql,
    makeFilteredWorld("", options.chunks, QUERIES, 768),
  );
  const { server, stamps } = await startStamped(env);
  await untilGraphed(sql, options.chunks * (worlds.length + 1));
  const texts = await fillServer(server, sql, options);
  const ready = requestsOf(texts);
  const kinds: Kind[] = [
    ...worlds.flatMap((world) => searchKinds(server, world)),
    ...filteredKinds(server, filtered),
    ...OPERATIONS.filter((name) => name !== "search").map((name) => ({
      name,
      requests: ready[name],
    })),
    { name: "PUT of 2 kB", requests: writesOf(texts) },
  ];
  const measurement = new Measurement(context, options, server, () => stamps.take());
  const columns = ["all", "kernel", "Bun", ...PARTS, "rest"] as const;
  const results = new Map<string, Costs>();
  out.line(
    `${options.chunks} chunks, ${texts.documents} documents; microseconds of CPU per request`,
  );
  out.head("", ...columns);
  for (const kind of kinds) {
    const costs = await measurement.costsOf(kind);
    out.row(kind.name, ...columns.map((name) => (costs[name] === 0 ? "" : costs[name].toFixed(0))));
    results.set(kind.name, costs);
  }
  await server.stop();
  return results;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

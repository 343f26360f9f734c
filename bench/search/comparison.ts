import type { BenchContext } from "../harness/context.ts";
import type { Latencies, Load } from "../harness/load/load.ts";
import { Api, type Form, jsonBody, searchRequest } from "../harness/requests.ts";
import type { Address, BenchServer } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import type { Tuned } from "./baseline.ts";
import { type Owned, searchPath, type World } from "./world.ts";

export const CLIENTS = 16;
const ONE_CLIENT_REQUESTS = 2_000;
const PAYLOADS = 500;
const BASELINE_QUERIES = 2_000;
/** Queries whose answers tell how long those of the bare server have to be. */
const ANSWERS_SIZED = 50;

/** What is measured, and on what. */
export interface Bench {
  readonly out: Output;
  /** Requests per run, and the number of rounds. */
  readonly options: {
    readonly requests: number;
    readonly rounds: number;
    readonly quick: boolean;
  };
  readonly world: World & Owned;
  readonly server: BenchServer;
  readonly load: Load;
}

/** Ready-made requests to search the scope of a share. */
export function payloads(
  server: Pick<Address, "url">,
  { queries, apiKey }: World & Owned,
  share: number,
  form: Form,
): Uint8Array[] {
  const path = searchPath(share);
  return queries
    .slice(0, PAYLOADS)
    .map((vector) => searchRequest(server, path, apiKey, vector, { form }));
}

/** A run of requests, with the mean milliseconds of native work per request. */
interface Run extends Latencies {
  readonly native: number;
}

/** Measurements by the name of their row. */
type Rows<T> = Map<string, T[]>;

function add<T>(rows: Rows<T>, name: string, value: T): void {
  rows.set(name, [...(rows.get(name) ?? []), value]);
}

const medianOf = <T>(runs: readonly T[], read: (run: T) => number) => median(runs.map(read));

function baselineRow(out: Output, name: string, runs: { cpu: number; p50: number }[]): void {
  const p50 = medianOf(runs, (run) => run.p50).toFixed(3);
  out.row(name, medianOf(runs, (run) => run.cpu).toFixed(3), ...Array(6).fill(""), p50, "", "");
}

/** What a row of a server is compared with. */
interface Yardsticks {
  /** CPU milliseconds per query of the baselines in process. */
  readonly raw: readonly number[];
  /** CPU milliseconds per request of the bare server. */
  readonly bare: number;
}

function serverRow(
  out: Output,
  name: string,
  [many, one]: readonly [readonly Run[], readonly Run[]],
  { raw, bare }: Yardsticks,
): void {
  const cpu = medianOf(many, (run) => run.cpu);
  const above = medianOf(many, (run) => run.cpu - run.native - bare) * 1_000;
  const isBare = raw.length === 0;
  out.row(
    name,
    cpu.toFixed(3),
    raw.map((baseline) => (cpu / baseline).toFixed(2)).join(" / "),
    isBare ? "" : medianOf(many, (run) => run.native).toFixed(3),
    isBare ? "" : above.toFixed(0),
    medianOf(many, (run) => run.qps).toFixed(0),
    medianOf(many, (run) => run.p50).toFixed(2),
    medianOf(many, (run) => run.p99).toFixed(2),
    medianOf(one, (run) => run.p50).toFixed(3),
    medianOf(one, (run) => run.p99).toFixed(3),
    isBare ? "" : medianOf(one, (run) => run.native).toFixed(3),
  );
}

/** The bytes of an answer, on average. */
async function answerBytes(server: BenchServer, world: World & Owned): Promise<number> {
  const { apiKey, queries } = world;
  const api = new Api(server.url, apiKey);
  let bytes = 0;
  for (const vector of queries.slice(0, ANSWERS_SIZED)) {
    const response = await api.send("POST", searchPath(1), jsonBody(vector));
    bytes += (await response.arrayBuffer()).byteLength;
  }
  return Math.round(bytes / Math.min(ANSWERS_SIZED, queries.length));
}

/** The bare server, which is sent the same requests and answers as many bytes. */
export async function startBare({ server, world }: Bench, context: BenchContext): Promise<Address> {
  const bytes = await answerBytes(server, world);
  return await context.startBaseline("bench/search/bare.ts", String(bytes));
}

/** Sends requests to the service, and takes the time of their native work from its metrics. */
async function runService(
  { server, load }: Bench,
  clients: number,
  count: number,
  list: Uint8Array[],
) {
  const name = "tessera_search_stage_duration_seconds_sum";
  const before = await server.metric(name);
  const latencies = await load.measure(server, clients, count, list);
  const native = (((await server.metric(name)) - before) * 1_000) / count;
  return { ...latencies, native };
}

async function runBare(
  bare: Address,
  { load }: Bench,
  clients: number,
  count: number,
  list: Uint8Array[],
) {
  return { ...(await load.measure(bare, clients, count, list)), native: 0 };
}

const BARE = "bare server, array";

/** Compares the service with USearch in process and with the bare server, and prints the table. */
export async function compare(bench: Bench, baselines: readonly Tuned[], bare: Address) {
  const { options, world, server } = bench;
  const { requests } = options;
  const forms: Form[] = options.quick ? ["array"] : ["array", "base64", "octets"];
  const bodies = new Map(forms.map((form) => [form, payloads(server, world, 1, form)]));
  const bareBodies = payloads(bare, world, 1, "array");
  await runBare(bare, bench, CLIENTS, requests / 4, bareBodies);
  for (const list of bodies.values()) await runService(bench, CLIENTS, requests / 4, list);
  const raw: Rows<{ cpu: number; p50: number }> = new Map();
  const many: Rows<Run> = new Map();
  const one: Rows<Run> = new Map();
  const few = Math.min(ONE_CLIENT_REQUESTS, requests);
  // Baselines and server take turns, so that noise of the machine affects all alike.
  for (let round = 0; round < options.rounds; round++) {
    add(many, BARE, await runBare(bare, bench, CLIENTS, requests, bareBodies));
    add(one, BARE, await runBare(bare, bench, 1, few, bareBodies));
    for (const form of forms) {
      const list = bodies.get(form) as Uint8Array[];
      for (const baseline of baselines) {
        const name = `usearch bf16 in process, recall ${baseline.recall.toFixed(3)}`;
        add(raw, name, baseline.measureCpu(Math.min(BASELINE_QUERIES, requests)));
      }
      add(many, form, await runService(bench, CLIENTS, requests, list));
      add(one, form, await runService(bench, 1, few, list));
    }
  }
  const compared = { raw, many, one };
  printComparison(bench.out, forms, compared);
  return compared;
}

interface Compared {
  readonly raw: Rows<{ cpu: number; p50: number }>;
  readonly many: Rows<Run>;
  readonly one: Rows<Run>;
}

function printComparison(out: Output, forms: readonly Form[], { raw, many, one }: Compared): void {
  out.head(
    "",
    "CPU ms per query",
    "ratio",
    "native ms",
    "above bare, us",
    "qps",
    "p50 ms",
    "p99 ms",
    "1 client p50 ms",
    "p99 ms",
    "native ms",
  );
  for (const [name, runs] of raw) baselineRow(out, name, runs);
  const rowsOf = (name: string) => [many.get(name) ?? [], one.get(name) ?? []] as const;
  serverRow(out, BARE, rowsOf(BARE), { raw: [], bare: 0 });
  const cpus = [...raw.values()].map((runs) => medianOf(runs, (run) => run.cpu));
  const yardsticks = { raw: cpus, bare: medianOf(many.get(BARE) ?? [], (run) => run.cpu) };
  for (const form of forms) serverRow(out, `server, ${form}`, rowsOf(form), yardsticks);
}

/**
 * Searches under overload: what is still answered, how soon, and whether one user harms another.
 *
 *   bun bench/overload/run.ts [--chunks 20000] [--dimension 1536] [--seconds 20] [--clients 2500]
 *                             [--shares 0.8,1,2,5] [--rounds 1] [--apart]
 *
 * The real server on an embedded PostgreSQL. The capacity is measured with 16 clients just before
 * each overload, which is then compared with it: goodput is the number of searches answered with 200
 * per second. Open loops send at these multiples of the capacity whether or not they are answered; the
 * closed loop has many clients that retry at once. Latencies are those of answered searches, compared
 * with the p99 of the first share. `--apart` gives the clients a core of their own and the service
 * the others, as if they ran on two machines (Linux only). At last one user floods the service with ten times its
 * capacity while another sends a tenth of it.
 */
import { availableParallelism, loadavg } from "node:os";
import { addApiKey, addMember, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import type { Sent } from "../harness/load/sent.ts";
import { closed, open, type Stream } from "../harness/load/streams.ts";
import { searchRequest } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import type { Output } from "../harness/table.ts";
import { makeWorld, searchPath, untilGraphed, type World, writeWorld } from "../search/world.ts";

export const OPTIONS = {
  chunks: 20_000,
  dimension: 1_536,
  seconds: 20,
  clients: 2_500,
  shares: "0.8,1,2,5",
  rounds: 1,
  apart: false,
};
type Options = typeof OPTIONS;

const CAPACITY_CLIENTS = 16;
const PAYLOADS = 200;

/** The last core is that of the clients. */
const CLIENT_CORE = availableParallelism() - 1;

/** Keeps this process, and those that it starts from now on, off the core of the clients. */
function leaveClientCore(): void {
  const { exitCode, stderr } = Bun.spawnSync([
    "taskset",
    "--all-tasks",
    "--cpu-list",
    "--pid",
    `0-${CLIENT_CORE - 1}`,
    String(process.pid),
  ]);
  if (exitCode !== 0) throw new Error(`--apart needs taskset and two cores: ${stderr}`);
}

const payloadsOf = (server: BenchServer, world: World, apiKey: string) =>
  world.queries.map((vector) => searchRequest(server, searchPath(1), apiKey, vector));

const p99 = (result: Sent) => result.quantile(0.99);
const p50 = (result: Sent) => result.quantile(0.5);
/** A figure of a report: a dash where there was nothing to measure. */
const figure = (value: number, digits: number) =>
  Number.isFinite(value) ? value.toFixed(digits) : "-";

type Send = (...streams: readonly Stream[]) => Promise<Sent[]>;

/** What is measured, and on what. */
interface Bench {
  readonly out: Output;
  readonly options: Options;
  /** Sends streams of requests. */
  readonly flood: Send;
  /** Does so from a process of its own: what a flood's clients wait for is not counted. */
  readonly modest: Send;
  readonly greedy: readonly Uint8Array[];
}

/** An overload, and the capacity that was measured just before. */
interface Goodput {
  readonly name: string;
  /** Answers per second. */
  readonly capacity: number;
  readonly result: Sent;
}

async function capacityOf({ flood, greedy, options }: Bench): Promise<number> {
  const [result] = await flood(closed(greedy, CAPACITY_CLIENTS));
  return (result as Sent).answered / options.seconds;
}

function printGoodputs({ out, options }: Bench, goodputs: readonly Goodput[]): void {
  out.head(
    "load",
    "capacity/s",
    "goodput/s",
    "ratio",
    "p50, ms",
    "p99, ms",
    `p99 to that at ${options.shares.split(",")[0]} x`,
    "refused/s",
    "failed",
  );
  const usual = p99((goodputs[0] as Goodput).result);
  for (const { name, capacity, result } of goodputs) {
    const goodput = result.answered / options.seconds;
    out.row(
      name,
      capacity.toFixed(0),
      goodput.toFixed(0),
      figure(goodput / capacity, 2),
      figure(p50(result), 1),
      figure(p99(result), 1),
      figure(p99(result) / usual, 2),
      (result.refused / options.seconds).toFixed(0),
      result.failed,
    );
  }
}

async function measureGoodputs(bench: Bench): Promise<Goodput[]> {
  const { flood, greedy, options } = bench;
  const goodputs: Goodput[] = [];
  const measure = async (name: string, streamOf: (capacity: number) => Stream) => {
    const capacity = await capacityOf(bench);
    const [result] = (await flood(streamOf(capacity))) as [Sent];
    goodputs.push({ name, capacity, result });
  };
  for (const share of options.shares.split(",").map(Number)) {
    await measure(`open loop, ${share} x`, (capacity) => open(greedy, capacity * share));
  }
  const { clients } = options;
  await measure(`closed loop, ${clients} clients`, () => closed(greedy, clients));
  return goodputs;
}

/** A user with a tenth of the capacity, alone and beside floods of another user. */
interface Modest {
  readonly name: string;
  readonly result: Sent;
}

async function measureFairness(bench: Bench, polite: readonly Uint8Array[]): Promise<Modest[]> {
  const { greedy, options } = bench;
  const capacity = await capacityOf(bench);
  const modest = open(polite, capacity / 10);
  const { clients } = options;
  const floods = [
    { name: "alone", streams: [] },
    { name: "beside a flood: open loop, 10 x", streams: [open(greedy, capacity * 10)] },
    {
      name: `beside a flood: closed loop, ${clients} clients`,
      streams: [closed(greedy, clients)],
    },
  ];
  const measured: Modest[] = [];
  for (const { name, streams } of floods) {
    const [[result]] = (await Promise.all([bench.modest(modest), bench.flood(...streams)])) as [
      [Sent],
      unknown,
    ];
    measured.push({ name, result });
  }
  return measured;
}

function printFairness({ out }: Bench, measured: readonly Modest[]): void {
  out.head("a user with 10% of the capacity", "answered", "refused", "p50, ms", "p99, ms");
  for (const { name, result } of measured) {
    const { answered, refused } = result;
    out.row(name, answered, refused, figure(p50(result), 1), figure(p99(result), 1));
  }
}

export async function run(options: Options, context: BenchContext) {
  const { out } = context;
  if (options.apart) leaveClientCore();
  const { env, sql } = await context.openDatabase();
  const made = makeWorld(options.chunks, PAYLOADS, options.dimension);
  const world = await writeWorld(sql, made);
  const userId = await addUser(sql);
  await addMember(sql, userId, world.project, "member");
  const { key } = await addApiKey(sql, userId);
  const server = await context.startServer({ ...env, LOG_LEVEL: "fatal" });
  await untilGraphed(sql, world.chunks);
  const greedy = payloadsOf(server, world, world.apiKey);
  const core = options.apart ? CLIENT_CORE : undefined;
  const [load, modestLoad] = [new Load({ core }), new Load({ core, first: true })];
  const bench: Bench = {
    out,
    options,
    greedy,
    flood: (...streams) => load.run(server.url, options.seconds, streams),
    modest: (...streams) => modestLoad.run(server.url, options.seconds, streams),
  };
  await capacityOf(bench);
  const goodputs: Goodput[] = [];
  const fairness: Modest[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const measured = await measureGoodputs(bench);
    printGoodputs(bench, measured);
    const modest = await measureFairness(bench, payloadsOf(server, world, key));
    printFairness(bench, modest);
    goodputs.push(...measured);
    fairness.push(...modest);
  }
  const averages = loadavg().map((load) => load.toFixed(1));
  out.line(`\nload average: ${averages.join(" ")}`);
  await server.stop();
  return { goodputs, fairness };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * Searches under overload: what is still answered, how soon, and whether one user harms another.
 *
 *   bun bench/overload/run.ts [--chunks 20000] [--dimension 1536] [--seconds 20] [--clients 2500]
 *                             [--rounds 1] [--apart] [--tiny]
 *
 * The real server on an embedded PostgreSQL. The capacity is measured with 16 clients just before
 * each overload, which is then compared with it: goodput is the number of searches answered with 200
 * per second. Open loops send at multiples of the capacity whether or not they are answered; the
 * closed loop has many clients that retry at once. Latencies are those of answered searches, compared
 * with the p99 at 80% of the capacity. `--apart` gives the clients a core of their own and the service
 * the others, as if they ran on two machines (Linux only). At last one user floods the service with ten times its
 * capacity while another sends a tenth of it.
 */
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { addApiKey, addMember, addUser } from "../../support/accounts.ts";
import { startDatabase } from "../../support/bench/database.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer, postRequest } from "../../support/bench/server.ts";
import { printHead, printRow } from "../../support/bench/table.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { quantile } from "../../support/statistics.ts";
import {
  makeWorld,
  PROJECT_ID,
  searchPath,
  untilGraphed,
  type World,
  writeWorld,
} from "../search/world.ts";
import type { LoadOrder, Stream, StreamResult } from "./load-process.ts";

const options = readOptions({
  chunks: 20_000,
  dimension: 1_536,
  seconds: 20,
  clients: 2_500,
  rounds: 1,
  apart: false,
  tiny: false,
});
const sizes = options.tiny
  ? { ...options, chunks: 500, dimension: 768, seconds: 0.5, clients: 300 }
  : options;
const CAPACITY_CLIENTS = 16;
const PAYLOADS = 200;
const WARM_UP_SECONDS = options.tiny ? 0.2 : 2;

/** The last core is that of the clients. */
const CLIENT_CORE = availableParallelism() - 1;

/** Keeps this process, and those that it starts from now on, off the core of the clients. */
function leaveClientCore(): void {
  const { exitCode, stderr } = Bun.spawnSync([
    ...["taskset", "--all-tasks", "--cpu-list", "--pid"],
    ...[`0-${CLIENT_CORE - 1}`, String(process.pid)],
  ]);
  if (exitCode !== 0) throw new Error(`--apart needs taskset and two cores: ${stderr}`);
}

const PINNED = options.apart ? ["taskset", "--cpu-list", String(CLIENT_CORE)] : [];

class Load {
  #resolve: (results: StreamResult[]) => void = () => {};
  readonly #program = [...PINNED, process.execPath, join(import.meta.dir, "load-process.ts")];
  readonly #child = Bun.spawn(this.#program, {
    ipc: (message) => this.#resolve(message as StreamResult[]),
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit"],
  });

  constructor(private readonly url: URL) {
    onCleanup(() => this.#child.kill());
  }

  async run(streams: readonly Stream[], seconds = sizes.seconds): Promise<StreamResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<StreamResult[]>();
    this.#resolve = resolve;
    void this.#child.exited.then(() => reject(new Error("the load generator has ended")));
    const url = String(this.url);
    this.#child.send({ url, seconds, warmUpSeconds: WARM_UP_SECONDS, streams } satisfies LoadOrder);
    return await promise;
  }
}

function payloadsOf(server: BenchServer, world: World, apiKey: string): Uint8Array[] {
  return world.queries.map((vector) => {
    const value = Buffer.from(vector.buffer).toString("base64");
    const body = JSON.stringify({ vector: value, dimension: world.dimension, threshold: 0 });
    return postRequest(server, searchPath(1), apiKey, body);
  });
}

const p99 = ({ latencies }: StreamResult) => (latencies.length > 0 ? quantile(latencies, 0.99) : 0);
const p50 = ({ latencies }: StreamResult) => (latencies.length > 0 ? quantile(latencies, 0.5) : 0);

async function goodputs(load: Load, payloads: readonly Uint8Array[]): Promise<void> {
  const capacityOf = async () => {
    const [result] = await load.run([{ payloads, clients: CAPACITY_CLIENTS }]);
    return (result as StreamResult).answered / sizes.seconds;
  };
  printHead(
    "load",
    "capacity/s",
    "goodput/s",
    "ratio",
    "p50, ms",
    "p99, ms",
    "p99 to that at 80%",
    "refused/s",
    "failed",
  );
  let usual = 0;
  const show = async (name: string, streamOf: (capacity: number) => Stream) => {
    const capacity = await capacityOf();
    const [result] = (await load.run([streamOf(capacity)])) as [StreamResult];
    usual ||= p99(result);
    const goodput = result.answered / sizes.seconds;
    printRow(
      name,
      capacity.toFixed(0),
      goodput.toFixed(0),
      (goodput / capacity).toFixed(2),
      p50(result).toFixed(1),
      p99(result).toFixed(1),
      (p99(result) / usual).toFixed(2),
      (result.refused / sizes.seconds).toFixed(0),
      result.failed + result.unsent,
    );
  };
  for (const share of [0.8, 1, 2, 5]) {
    await show(`open loop, ${share} x`, (capacity) => ({ payloads, rate: capacity * share }));
  }
  await show(`closed loop, ${sizes.clients} clients`, () => ({ payloads, clients: sizes.clients }));
}

async function fairness(load: Load, greedy: Uint8Array[], polite: Uint8Array[]): Promise<void> {
  const [measured] = await load.run([{ payloads: greedy, clients: CAPACITY_CLIENTS }]);
  const capacity = (measured as StreamResult).answered / sizes.seconds;
  const modest = { payloads: polite, rate: capacity / 10 };
  printHead("a user with 10% of the capacity", "answered", "refused", "p50, ms", "p99, ms");
  const show = (name: string, result: StreamResult) => {
    const { answered, refused } = result;
    printRow(name, answered, refused, p50(result).toFixed(1), p99(result).toFixed(1));
  };
  const [alone] = (await load.run([modest])) as [StreamResult];
  show("alone", alone);
  for (const flood of [
    { name: "open loop, 10 x", stream: { payloads: greedy, rate: capacity * 10 } },
    {
      name: `closed loop, ${sizes.clients} clients`,
      stream: { payloads: greedy, clients: sizes.clients },
    },
  ]) {
    const [result] = (await load.run([modest, flood.stream])) as [StreamResult];
    show(`beside a flood: ${flood.name}`, result);
  }
}

await runProgram(async () => {
  if (options.apart) leaveClientCore();
  const world = makeWorld(sizes.chunks, PAYLOADS, sizes.dimension);
  const database = await startDatabase();
  await writeWorld(database.sql, world);
  const userId = await addUser(database.sql);
  await addMember(database.sql, userId, { id: PROJECT_ID, slug: "bench" }, "member");
  const { key } = await addApiKey(database.sql, userId);
  const server = await BenchServer.start({ DATA_DIR: database.dataDir, LOG_LEVEL: "fatal" });
  await untilGraphed(database.sql, world.chunks);
  const load = new Load(server.url);
  const greedy = payloadsOf(server, world, world.apiKey);
  await load.run([{ payloads: greedy, clients: CAPACITY_CLIENTS }]);
  for (let round = 0; round < sizes.rounds; round++) {
    await goodputs(load, greedy);
    await fairness(load, greedy, payloadsOf(server, world, key));
  }
  process.stdout.write(
    `\nload average: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(" ")}\n`,
  );
  await server.stop();
});

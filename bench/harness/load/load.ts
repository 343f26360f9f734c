import { join } from "node:path";
import { onCleanup } from "../../../support/cleanup.ts";
import { cpuSeconds } from "../process-usage.ts";
import type { Address } from "../server.ts";
import type { Order } from "./load-process.ts";
import { type Recorded, type Request, Sent } from "./sent.ts";
import { closed, type Stream } from "./streams.ts";

/** Clients with this niceness go first on a core that they share with others, as on a machine of their own. */
const FIRST_NICENESS = -10;
/** The warm-up of a load, at most the share of its time and this many seconds. */
const WARM_UP_SHARE = 0.4;
const WARM_UP_MAX_SECONDS = 2;

interface LoadOptions {
  /** The core of the process; any by default. Linux only. */
  readonly core?: number | undefined;
  /** True where the clients go before other processes of this machine, which root may ask for. */
  readonly first?: boolean;
}

/** Latencies are in milliseconds. */
export interface Latencies {
  readonly qps: number;
  readonly p50: number;
  readonly p99: number;
  /** Server CPU milliseconds per request. */
  readonly cpu: number;
}

/** Clients in a process of their own, started once so that its compilation is not measured. */
export class Load {
  #resolve: (results: Recorded[]) => void = () => {};
  readonly #child: Bun.Subprocess;

  constructor({ core, first = false }: LoadOptions = {}) {
    const pinned = core === undefined ? [] : ["taskset", "--cpu-list", String(core)];
    const nice = first ? ["nice", `--adjustment=${FIRST_NICENESS}`] : [];
    const program = [process.execPath, join(import.meta.dir, "load-process.ts")];
    this.#child = Bun.spawn([...nice, ...pinned, ...program], {
      ipc: (message) => this.#resolve(message as Recorded[]),
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit"],
    });
    onCleanup(() => this.#child.kill());
  }

  /** Sends streams at once. Returns the results of the requests of each stream. */
  async send(url: URL, streams: readonly Stream[]): Promise<Sent[]> {
    return (await this.#run(url, streams)).map(Sent.of);
  }

  /** The same for some seconds after a warm-up, without the requests that ended before or after these. */
  async run(url: URL, seconds: number, streams: readonly Stream[]): Promise<Sent[]> {
    const from = Math.min(WARM_UP_MAX_SECONDS, seconds * WARM_UP_SHARE);
    const to = from + seconds;
    const all = await this.send(
      url,
      streams.map((stream) => ({ ...stream, seconds: to, givesUp: true })),
    );
    const isCounted = ({ ended }: Request) => ended >= from * 1_000 && ended < to * 1_000;
    return all.map((sent) => sent.filter(isCounted));
  }

  /** Sends `count` requests, taking `requests` in turn. Throws if an answer has no status of success. */
  async measure(
    server: Address,
    clients: number,
    count: number,
    requests: readonly Uint8Array[],
  ): Promise<Latencies> {
    const stream = { ...closed(requests, clients), count };
    const before = cpuSeconds(server.pid);
    const [recorded] = (await this.#run(server.url, [stream])) as [Recorded];
    const cpu = ((cpuSeconds(server.pid) - before) * 1_000) / count;
    const sent = Sent.of(recorded);
    if (sent.refused + sent.failed > 0) throw new Error("the server refused what is measured");
    const qps = sent.answered / recorded.seconds;
    return { qps, p50: sent.quantile(0.5), p99: sent.quantile(0.99), cpu };
  }

  async #run(url: URL, streams: readonly Stream[]): Promise<Recorded[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Recorded[]>();
    this.#resolve = resolve;
    void this.#child.exited.then(() => reject(new Error("the load generator has ended")));
    this.#child.send({ url: String(url), streams } satisfies Order);
    return await promise;
  }
}

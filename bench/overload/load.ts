import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import type { LoadOrder, Stream, StreamResult } from "./load-process.ts";

/** The warm-up of a load, at most the share of its time and this many seconds. */
const WARM_UP_SHARE = 0.4;
const WARM_UP_MAX_SECONDS = 2;
/** Clients with this niceness go first on a core that they share with others, as on a machine of their own. */
const FIRST_NICENESS = -10;

interface LoadOptions {
  /** The core of the process; any by default. Linux only. */
  readonly core?: number | undefined;
  /** True where the clients go before other processes of this machine, which root may ask for. */
  readonly first?: boolean;
}

/** Clients in a process of their own. */
export class Load {
  #resolve: (results: StreamResult[]) => void = () => {};
  readonly #child: Bun.Subprocess;

  constructor({ core, first = false }: LoadOptions = {}) {
    const pinned = core === undefined ? [] : ["taskset", "--cpu-list", String(core)];
    const nice = first ? ["nice", `--adjustment=${FIRST_NICENESS}`] : [];
    const program = [process.execPath, join(import.meta.dir, "load-process.ts")];
    this.#child = Bun.spawn([...nice, ...pinned, ...program], {
      ipc: (message) => this.#resolve(message as StreamResult[]),
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit"],
    });
    onCleanup(() => this.#child.kill());
  }

  /** Sends streams of requests at once. Returns what became of each. */
  async run(url: URL, seconds: number, streams: readonly Stream[]): Promise<StreamResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<StreamResult[]>();
    this.#resolve = resolve;
    void this.#child.exited.then(() => reject(new Error("the load generator has ended")));
    const warmUpSeconds = Math.min(WARM_UP_MAX_SECONDS, seconds * WARM_UP_SHARE);
    this.#child.send({ url: String(url), seconds, warmUpSeconds, streams } satisfies LoadOrder);
    return await promise;
  }
}

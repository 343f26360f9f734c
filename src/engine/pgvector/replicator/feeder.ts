import { Worker } from "node:worker_threads";
import pTimeout from "p-timeout";
import type { Log } from "../../../observability/log.ts";
import { INDEX_RESTART_DELAY_MS, INDEX_STOP_TIMEOUT_MS } from "../../../shared/limits.ts";
import type { FeedOptions, FeedReport, FromFeed } from "./messages.ts";

const STARTING: FeedReport = {
  behind: "the state of the vector database is not known yet",
  lag: 0,
  projects: 0,
  vectors: 0,
  backlog: 0,
  complete: false,
};

/** The main thread's side of the thread that writes vectors; restarts it when it dies. */
export class Feeder {
  #worker: Worker | undefined;
  #closing = false;
  readonly #stopped = Promise.withResolvers<void>();
  report = STARTING;

  constructor(
    private readonly options: FeedOptions,
    private readonly log: Log,
  ) {
    this.#start();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#worker?.postMessage("stop");
    await pTimeout(this.#stopped.promise, { milliseconds: INDEX_STOP_TIMEOUT_MS, message: false });
    await this.#worker?.terminate();
  }

  #start(): void {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: this.options,
      name: "tessera-vectors",
    });
    this.#worker = worker;
    let ended = false;
    const end = (err?: unknown) => {
      if (ended) return;
      ended = true;
      this.#ended(err);
    };
    worker.on("message", (message: FromFeed) => {
      if (message.type === "report") this.report = message.report;
      else this.#stopped.resolve();
    });
    worker.on("error", end);
    worker.on("exit", () => end());
  }

  #ended(err: unknown): void {
    this.#worker = undefined;
    if (this.#closing) {
      this.#stopped.resolve();
      return;
    }
    this.log.error({ err }, "the thread that writes vectors ended; restarting it");
    setTimeout(() => {
      if (!this.#closing) this.#start();
    }, INDEX_RESTART_DELAY_MS);
  }
}

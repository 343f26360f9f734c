import { INDEX_RESTART_DELAY_MS, INDEX_STOP_TIMEOUT_MS } from "../../../domain/limits.ts";
import type { Log } from "../../../ops/observability/log.ts";
import { SupervisedThread } from "../../../ops/threads/supervised-thread.ts";
import type { ReplicatorOptions, ReplicatorProtocol, ReplicatorReport } from "./messages.ts";

const STARTING: ReplicatorReport = {
  behind: "the state of the vector database is not known yet",
  lag: 0,
  projects: 0,
  vectors: 0,
  backlog: 0,
  complete: false,
};

/** The main thread's side of the thread that writes vectors. */
export class Replicator {
  readonly #thread: SupervisedThread<ReplicatorProtocol>;
  report = STARTING;

  constructor(options: ReplicatorOptions, log: Log) {
    this.#thread = new SupervisedThread({
      entry: new URL("./thread.ts", import.meta.url),
      name: "tessera-vectors",
      options,
      restartMs: INDEX_RESTART_DELAY_MS,
      receive: (report) => {
        this.report = report;
      },
      crashed: (err) => log.error({ err }, "the thread that writes vectors ended; restarting it"),
    });
  }

  close(): Promise<void> {
    return this.#thread.drain(INDEX_STOP_TIMEOUT_MS);
  }
}

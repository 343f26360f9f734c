import pTimeout from "p-timeout";
import type { SnapshotCopies } from "../../config/snapshots.ts";
import { SupervisedThread } from "../../threads/supervised-thread.ts";
import type { CopyProtocol, CopyResult, CopyTask } from "./copy-task.ts";

/** A thread that copies ends after this time without work. Until then it knows what it has uploaded. */
const COPY_THREAD_IDLE_MS = 600_000;

/**
 * A thread for copies in one direction. When it has not answered in time, a file system hangs, and it gets no
 * other task until it has.
 */
export class CopyThread {
  #thread: SupervisedThread<CopyProtocol> | undefined;
  #overdue = 0;

  constructor(
    private readonly copies: SnapshotCopies,
    private readonly niceness: number,
  ) {}

  /** Never rejects. */
  async run(task: CopyTask, limitMs: number): Promise<CopyResult> {
    const failed = (reason: string): CopyResult => ({
      ...{ failure: { kind: "unavailable", reason }, bytes: 0, seconds: 0 },
    });
    if (this.#overdue > 0) return failed("the shared place still does not answer");
    const running = this.#open()
      .run(task)
      .catch(() => failed("the thread that copies has ended"));
    const overdue = Symbol();
    const result = await pTimeout(running, { milliseconds: limitMs, fallback: () => overdue });
    if (typeof result === "object") return result;
    this.#overdue++;
    void running.then(() => this.#overdue--);
    return failed("the shared place does not answer");
  }

  #open(): SupervisedThread<CopyProtocol> {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new SupervisedThread<CopyProtocol>({
        entry: new URL("./copy-thread.ts", import.meta.url),
        name: "tessera-copies",
        options: { copies: this.copies, niceness: this.niceness },
        idleMs: COPY_THREAD_IDLE_MS,
      });
    }
    return this.#thread;
  }
}

import { receivedProblem } from "../../../domain/problem/posted-problem.ts";
import { SupervisedThread } from "../../../ops/threads/supervised-thread.ts";
import type {
  ImportInput,
  ImportJob,
  ImportProtocol,
  ImportReport,
  ImportThreadOptions,
} from "./messages.ts";

/** Bytes of an upload that wait for its thread. */
const IMPORT_QUEUED_BYTES = 1_048_576;
/** A thread that runs imports ends after this time without one, because it keeps the memory of the last. */
const IMPORT_THREAD_IDLE_MS = 10_000;

/** The main thread's side of one import. */
class RunningImport {
  readonly #report: Promise<ImportReport>;
  #queuedBytes = 0;
  #finished = false;
  #leavesNothing = false;
  #wake = () => {};

  constructor(
    private readonly thread: SupervisedThread<ImportProtocol>,
    job: ImportJob,
  ) {
    this.#report = this.#run(job);
    // The error is thrown by `feed`, which may still be reading the body.
    this.#report.catch(() => {});
  }

  /** Passes the body to the thread as fast as it is imported, and returns the report. */
  async feed(body: AsyncIterable<Uint8Array>, client: AbortSignal): Promise<ImportReport> {
    client.addEventListener("abort", () => this.#tell({ type: "lost" }));
    try {
      for await (const piece of body) {
        await this.#send(piece);
        if (this.#finished) break;
      }
    } catch (error) {
      this.#tell({ type: "lost" });
      // The thread rolls its transaction back before the caller may start another import.
      await this.#report.catch(() => {});
      throw error;
    }
    this.#tell({ type: "end" });
    return await this.#report;
  }

  /** True once the thread can run another import. */
  get leavesNothing(): boolean {
    return this.#leavesNothing;
  }

  /** The thread has taken a piece of this many bytes out of its queue. */
  taken(bytes: number): void {
    this.#queuedBytes -= bytes;
    this.#wake();
  }

  async #run(job: ImportJob): Promise<ImportReport> {
    try {
      const result = await this.thread.run(job);
      this.#leavesNothing = "report" in result || result.leavesNothing;
      if ("report" in result) return result.report;
      throw receivedProblem(result);
    } finally {
      this.#finished = true;
      this.#wake();
    }
  }

  async #send(piece: Uint8Array): Promise<void> {
    // A copy, since a piece may be a part of a larger buffer, which cannot be transferred.
    const bytes = new Uint8Array(piece);
    this.#queuedBytes += bytes.byteLength;
    this.#tell({ type: "bytes", bytes }, [bytes.buffer]);
    while (this.#queuedBytes > IMPORT_QUEUED_BYTES && !this.#finished) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #tell(input: ImportInput, transfer: ArrayBuffer[] = []): void {
    if (!this.#finished) this.thread.tell(input, transfer);
  }
}

/** A thread that runs one import at a time. */
class ImportThread {
  readonly thread: SupervisedThread<ImportProtocol>;
  #current: RunningImport | undefined;

  constructor(options: ImportThreadOptions) {
    this.thread = new SupervisedThread({
      entry: new URL("./thread.ts", import.meta.url),
      name: "tessera-import",
      options,
      idleMs: IMPORT_THREAD_IDLE_MS,
      receive: ({ takenBytes }) => this.#current?.taken(takenBytes),
    });
  }

  get isReusable(): boolean {
    return this.#current?.leavesNothing === true && !this.thread.hasEnded;
  }

  run(job: ImportJob, body: AsyncIterable<Uint8Array>, client: AbortSignal): Promise<ImportReport> {
    this.#current = new RunningImport(this.thread, job);
    return this.#current.feed(body, client);
  }
}

/** Runs imports, each on a thread of its own, which the next one may use again. */
export class ImportThreads {
  readonly #running = new Set<ImportThread>();
  /** Starting a thread takes longer than a small import, so an idle thread is kept for a while. */
  #idle: ImportThread | undefined;
  #closed = false;

  constructor(private readonly options: ImportThreadOptions) {}

  /**
   * Imports a body. When the body throws or the client goes away, the import stops, and keeps the records that it has
   * committed. Throws problems.
   */
  async run(
    job: ImportJob,
    body: AsyncIterable<Uint8Array>,
    client: AbortSignal,
  ): Promise<ImportReport> {
    const running = this.#take();
    this.#running.add(running);
    try {
      return await running.run(job, body, client);
    } finally {
      this.#running.delete(running);
      // After any other failure, the state of the thread is unknown, so the thread ends.
      if (running.isReusable && !this.#closed && this.#idle === undefined) this.#idle = running;
      else await running.thread.close();
    }
  }

  /** Ends running imports. PostgreSQL rolls back their uncommitted changes. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#running, this.#idle].map((each) => each?.thread.close()));
  }

  #take(): ImportThread {
    const idle = this.#idle;
    this.#idle = undefined;
    return idle === undefined || idle.thread.hasEnded ? new ImportThread(this.options) : idle;
  }
}

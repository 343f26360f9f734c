import { Worker } from "node:worker_threads";
import { Problem } from "../../problem/problem.ts";
import {
  IMPORT_EXPANSION_MAX,
  IMPORT_QUEUED_BYTES,
  IMPORT_THREAD_IDLE_MS,
} from "../../shared/limits.ts";
import type {
  FromImport,
  ImportFailure,
  ImportJob,
  ImportReport,
  ImportThreadOptions,
  ToImport,
} from "./messages.ts";

/** The problem or the error that a failed import means to its caller. */
function errorOf(failure: ImportFailure, maxBytes: number): Error {
  switch (failure.kind) {
    case "too-large":
      return new Problem("payload-too-large", {
        detail:
          `The records must have at most ${maxBytes} bytes, compressed or not, and at most ` +
          `${IMPORT_EXPANSION_MAX} times the bytes of the compressed body.`,
        // The rest of the body is not read.
        headers: { connection: "close" },
      });
    case "lost":
      return new Problem("validation-failed", { detail: "The body could not be read." });
    case "refused":
      return new Problem("validation-failed", {
        detail: failure.message,
        headers: { connection: "close" },
      });
    case "import":
      return new Problem("overloaded", { detail: `${failure.message}.` });
    case "error": {
      const { message, stack, code, severity } = failure;
      // The code and the severity decide whether the database or the service has failed.
      return Object.assign(new Error(message), { stack, code, severity });
    }
  }
}

/** The main thread's side of one import. */
class RunningImport {
  readonly #result = Promise.withResolvers<ImportReport>();
  #queuedBytes = 0;
  #finished = false;
  #wake = () => {};

  constructor(
    private readonly worker: Worker,
    private readonly job: ImportJob,
  ) {
    // The error is thrown by `run`, which may still be reading the body.
    this.#result.promise.catch(() => {});
    this.#post({ type: "start", job });
  }

  receive(message: FromImport): void {
    if (message.type === "taken") this.#taken(message.bytes);
    else if (message.type === "done") this.#finish(() => this.#result.resolve(message.report));
    else this.fail(errorOf(message.failure, this.job.maxBytes));
  }

  /** Passes the body to the thread as fast as it is imported, and returns the report. */
  async run(body: AsyncIterable<Uint8Array>, client: AbortSignal): Promise<ImportReport> {
    client.addEventListener("abort", () => this.#post({ type: "lost" }));
    try {
      for await (const piece of body) {
        await this.#send(piece);
        if (this.#finished) break;
      }
    } catch (error) {
      this.#post({ type: "lost" });
      // The thread rolls its transaction back before the caller may start another import.
      await this.#result.promise.catch(() => {});
      throw error;
    }
    this.#post({ type: "end" });
    return await this.#result.promise;
  }

  fail(error: Error): void {
    this.#finish(() => this.#result.reject(error));
  }

  async #send(piece: Uint8Array): Promise<void> {
    // A copy, since a piece may be a part of a larger buffer, which cannot be transferred.
    const bytes = new Uint8Array(piece);
    this.#queuedBytes += bytes.byteLength;
    this.#post({ type: "bytes", bytes }, [bytes.buffer]);
    while (this.#queuedBytes > IMPORT_QUEUED_BYTES && !this.#finished) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #post(message: ToImport, transfer: ArrayBuffer[] = []): void {
    if (!this.#finished) this.worker.postMessage(message, transfer);
  }

  #taken(bytes: number): void {
    this.#queuedBytes -= bytes;
    this.#wake();
  }

  #finish(settle: () => void): void {
    if (this.#finished) return;
    this.#finished = true;
    settle();
    this.#wake();
  }
}

/** A thread that runs one import at a time. */
class ImportThread {
  readonly #worker: Worker;
  #current: RunningImport | undefined;
  ended = false;

  constructor(options: ImportThreadOptions) {
    this.#worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: options,
      name: "tessera-import",
    });
    this.#worker.on("message", (message: FromImport) => this.#current?.receive(message));
    this.#worker.on("error", (error: Error) => this.#failed(error));
    this.#worker.on("exit", () => this.#failed(new Error("an import thread has ended")));
  }

  async run(
    job: ImportJob,
    body: AsyncIterable<Uint8Array>,
    client: AbortSignal,
  ): Promise<ImportReport> {
    this.#current = new RunningImport(this.#worker, job);
    return await this.#current.run(body, client);
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.#worker.terminate();
  }

  #failed(error: Error): void {
    this.ended = true;
    this.#current?.fail(error);
  }
}

/** Runs imports, each on a thread of its own, which the next one may use again. */
export class ImportThreads {
  readonly #running = new Set<ImportThread>();
  /** Starting a thread takes longer than a small import, so one waits for the next for a while. */
  #idle: ImportThread | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(private readonly options: ImportThreadOptions) {}

  /**
   * Imports a body. When the body throws or the client goes away, the import stops, and keeps what an
   * interrupted import keeps. Throws problems and database errors.
   */
  async run(
    job: ImportJob,
    body: AsyncIterable<Uint8Array>,
    client: AbortSignal,
  ): Promise<ImportReport> {
    const thread = this.#take();
    this.#running.add(thread);
    try {
      const report = await thread.run(job, body, client);
      this.#keep(thread);
      return report;
    } finally {
      this.#running.delete(thread);
      if (thread !== this.#idle) await thread.end();
    }
  }

  /** Ends running imports. PostgreSQL rolls back what they have not committed. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    await Promise.all([...this.#running, this.#idle].map((thread) => thread?.end()));
  }

  #take(): ImportThread {
    const idle = this.#idle;
    this.#idle = undefined;
    clearTimeout(this.#idleTimer);
    return idle === undefined || idle.ended ? new ImportThread(this.options) : idle;
  }

  /** Only after a success: what a failed import has left behind ends with its thread. */
  #keep(thread: ImportThread): void {
    if (this.#closed || thread.ended || this.#idle !== undefined) return;
    this.#idle = thread;
    this.#idleTimer = setTimeout(() => {
      this.#idle = undefined;
      void thread.end();
    }, IMPORT_THREAD_IDLE_MS);
    this.#idleTimer.unref();
  }
}

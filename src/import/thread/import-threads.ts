import { Worker } from "node:worker_threads";
import { Problem } from "../../problem/problem.ts";
import { IMPORT_QUEUED_BYTES } from "../../shared/limits.ts";
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
        detail: `The records must have at most ${maxBytes} bytes, compressed or not.`,
        // The rest of the body is not read.
        headers: { connection: "close" },
      });
    case "lost":
      return new Problem("validation-failed", { detail: "The body could not be read." });
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
class ImportThread {
  readonly #worker: Worker;
  readonly #result = Promise.withResolvers<ImportReport>();
  #queuedBytes = 0;
  #finished = false;
  #wake = () => {};

  constructor(options: ImportThreadOptions) {
    this.#worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: options,
      name: "tessera-import",
    });
    this.#worker.on("message", (message: FromImport) => {
      if (message.type === "taken") this.#taken(message.bytes);
      else if (message.type === "done") this.#finish(() => this.#result.resolve(message.report));
      else this.#fail(errorOf(message.failure, options.job.maxBytes));
    });
    this.#worker.on("error", (error: Error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("an import thread has ended")));
    // The error is thrown by `run`, which may still be reading the body.
    this.#result.promise.catch(() => {});
  }

  /** Passes the body to the thread as fast as it is imported, and returns the report. */
  async run(body: AsyncIterable<Uint8Array>): Promise<ImportReport> {
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

  async end(): Promise<void> {
    await this.#worker.terminate();
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
    if (!this.#finished) this.#worker.postMessage(message, transfer);
  }

  #taken(bytes: number): void {
    this.#queuedBytes -= bytes;
    this.#wake();
  }

  #fail(error: Error): void {
    this.#finish(() => this.#result.reject(error));
  }

  #finish(settle: () => void): void {
    if (this.#finished) return;
    this.#finished = true;
    settle();
    this.#wake();
  }
}

/** Runs imports, each on a thread of its own. */
export class ImportThreads {
  readonly #running = new Set<ImportThread>();

  constructor(private readonly options: Omit<ImportThreadOptions, "job">) {}

  /**
   * Imports a body. When the body throws, so does the import, and it keeps what an interrupted import
   * keeps. Throws problems and database errors.
   */
  async run(job: ImportJob, body: AsyncIterable<Uint8Array>): Promise<ImportReport> {
    const thread = new ImportThread({ ...this.options, job });
    this.#running.add(thread);
    try {
      return await thread.run(body);
    } finally {
      this.#running.delete(thread);
      await thread.end();
    }
  }

  /** Ends running imports. PostgreSQL rolls back what they have not committed. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((thread) => thread.end()));
  }
}

import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { RecordError } from "../records/errors.ts";
import type { Answer, Result, Task } from "./protocol.ts";

/** What the reading of one document, or of some rows of a table, may take. */
interface ForeignBounds {
  readonly ms: number;
  readonly bytes: number;
}

/** The program of the process. It imports readers of all formats, which this module must not. */
const ENTRY = fileURLToPath(new URL("../read-foreign.ts", import.meta.url));
/** The process is ended after this time without a task, because it keeps the memory of the last. */
const IDLE_MS = 10_000;

/**
 * Reads files in formats of others, such as PDF and Parquet, in a process of its own. Their readers are made for
 * files that mean well: a small file can keep one busy without end, or have it take all memory, and neither a
 * thread nor a timer could stop that. The process is ended when a file exceeds the bounds, and the next file gets
 * another one.
 */
export class ForeignReader {
  readonly #inTurn = pLimit(1);
  #process: ReadingProcess | undefined;

  constructor(private readonly bounds: ForeignBounds) {}

  /** One task at a time. Throws a RecordError if the file cannot be read within the bounds. */
  async read<T extends Task>(task: T): Promise<Result<T>> {
    return await this.#inTurn(async () => {
      const isFresh = this.#process === undefined || this.#process.hasEnded;
      try {
        return await this.#attempt(task);
      } catch (error) {
        // What earlier files have left behind does not count for this one.
        if (!(error instanceof ProcessEnded) || isFresh) throw error;
        return await this.#attempt(task);
      }
    });
  }

  /** Ends the process, if there is one. It would end by itself some time after the last file. */
  async close(): Promise<void> {
    await this.#process?.end();
  }

  async #attempt<T extends Task>(task: T): Promise<Result<T>> {
    if (this.#process === undefined || this.#process.hasEnded) {
      this.#process = new ReadingProcess(this.bounds);
    }
    return (await this.#process.run(task)) as Result<T>;
  }
}

/** The process has ended by itself, or by its watchdog, while it was reading a file. */
class ProcessEnded extends RecordError {}

class ReadingProcess {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "ignore">;
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<unknown> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  constructor(private readonly bounds: ForeignBounds) {
    this.#child = Bun.spawn({
      cmd: [process.execPath, ENTRY, String(bounds.bytes)],
      // It needs none of the settings and credentials of this process, nor files of the folder in which it runs.
      env: {},
      cwd: "/",
      ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore" },
      serialization: "advanced",
      ipc: (message: Answer) => this.#receive(message),
      onExit: ({ signalCode }) => this.#exited(signalCode),
    });
    this.#ready.promise.catch(() => {});
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async run(task: Task): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#child.ref();
    try {
      await this.#ready.promise;
      this.#answer = Promise.withResolvers();
      this.#timer = setTimeout(() => this.#outOfTime(), this.bounds.ms);
      this.#child.send(task);
      return await this.#answer.promise;
    } finally {
      this.#answer = undefined;
      clearTimeout(this.#timer);
      this.#child.unref();
      this.#timer = setTimeout(() => void this.end(), IDLE_MS);
      this.#timer.unref();
    }
  }

  #receive(message: Answer): void {
    if ("ready" in message) this.#ready.resolve();
    else if ("result" in message) this.#answer?.resolve(message.result);
    else this.#answer?.reject(new RecordError(message.reason));
  }

  #outOfTime(): void {
    this.#answer?.reject(new RecordError(`takes more than ${this.bounds.ms / 1_000} s to read`));
    void this.end();
  }

  #exited(signal: NodeJS.Signals | number | null): void {
    this.#hasEnded = true;
    // Beside the watchdog, the system kills a process that takes too much memory.
    const error =
      signal === "SIGKILL"
        ? new ProcessEnded(`takes more than ${this.bounds.bytes / 1_048_576} MiB of memory to read`)
        : new ProcessEnded("cannot be read: its reader fails");
    this.#ready.reject(error);
    this.#answer?.reject(error);
  }
}

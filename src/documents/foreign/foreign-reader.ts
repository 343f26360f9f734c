import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { RecordError } from "../errors.ts";
import type { Answer, Order, Result, Task } from "./protocol.ts";

/** Bounds of reading one document, or some rows of a table. */
interface ForeignBounds {
  readonly ms: number;
  readonly bytes: number;
}

const BOUNDS: Readonly<Record<Task["kind"], ForeignBounds>> = {
  document: { ms: 60_000, bytes: 1_073_741_824 },
  // Rows are read by columns of many rows, which may have vectors.
  rows: { ms: 300_000, bytes: 4_294_967_296 },
};

/** The program of the process. It imports readers of all formats, which this module must not. */
const ENTRY = fileURLToPath(new URL("../../content/import/read-foreign.ts", import.meta.url));
/** The process is ended after this time without a task, because it keeps the memory of the last. */
const IDLE_MS = 10_000;

/**
 * Reads files in all formats of others, such as PDF and Parquet, in one process. Their readers are not made for hostile
 * files. A small file can keep a reader busy without end, or have it take all memory, and neither a thread nor a timer
 * could stop that. The process is ended when a file exceeds the bounds, and the next file gets another one.
 */
export class ForeignReader {
  readonly #inTurn = pLimit(1);
  #process: ReadingProcess | undefined;

  constructor(private readonly bounds = BOUNDS) {}

  /** One task at a time. Throws a RecordError if the file cannot be read within the bounds. */
  async read<T extends Task>(task: T): Promise<Result<T>> {
    return await this.#inTurn(async () => {
      const isFresh = this.#process === undefined || this.#process.hasEnded;
      try {
        return await this.#attempt(task);
      } catch (error) {
        // The fault may be that of earlier files, so the file is read again in a new process.
        if (!(error instanceof ProcessEnded) || isFresh) throw error;
        return await this.#attempt(task);
      }
    });
  }

  /** Ends the process. It would end by itself some time after the last file. */
  async close(): Promise<void> {
    await this.#process?.end();
  }

  async #attempt<T extends Task>(task: T): Promise<Result<T>> {
    if (this.#process === undefined || this.#process.hasEnded) {
      this.#process = new ReadingProcess();
    }
    return (await this.#process.run(task, this.bounds[task.kind])) as Result<T>;
  }
}

/** The reader of all imports of this process. */
export const foreignReader = new ForeignReader();

/** A file exceeded the time or the memory of this attempt; a later one may succeed. */
export class ReaderFailed extends RecordError {}
/** The process has ended by itself, or by its watchdog, while it was reading a file. */
class ProcessEnded extends ReaderFailed {}

class ReadingProcess {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "ignore">;
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<unknown> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #bounds: ForeignBounds | undefined;
  #hasEnded = false;

  constructor() {
    this.#child = Bun.spawn({
      cmd: [process.execPath, ENTRY],
      // It needs none of the settings and credentials of this process, nor files of the folder in which it runs.
      env: {},
      cwd: "/",
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
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

  async run(task: Task, bounds: ForeignBounds): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#bounds = bounds;
    this.#child.ref();
    try {
      await this.#ready.promise;
      this.#answer = Promise.withResolvers();
      this.#timer = setTimeout(() => this.#outOfTime(bounds), bounds.ms);
      this.#child.send({ task, maxBytes: bounds.bytes } satisfies Order);
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

  #outOfTime({ ms }: ForeignBounds): void {
    this.#answer?.reject(new ReaderFailed(`takes more than ${ms / 1_000} s to read`));
    void this.end();
  }

  #exited(signal: NodeJS.Signals | number | null): void {
    this.#hasEnded = true;
    // In addition to the watchdog, the system kills a process that takes too much memory.
    const mib = (this.#bounds?.bytes ?? 0) / 1_048_576;
    const error =
      signal === "SIGKILL"
        ? new ProcessEnded(`takes more than ${mib} MiB of memory to read`)
        : new ProcessEnded("cannot be read: its reader fails");
    this.#ready.reject(error);
    this.#answer?.reject(error);
  }
}

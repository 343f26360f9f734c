import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { TEXT_BUILD_THREADS_MAX } from "../../shared/limits.ts";
import type { TextRow } from "./build-from-rows.ts";

export interface BuildRequest {
  readonly ticket: number;
  readonly rows: readonly TextRow[];
}

export type BuildReply =
  | { readonly ticket: number; readonly buffer: SharedArrayBuffer }
  | { readonly ticket: number; readonly failure: string };

type Waiting = PromiseWithResolvers<SharedArrayBuffer>;

/** A thread and the requests that it has not answered yet. */
class BuildThread {
  readonly #worker = new Worker(new URL("./build-thread.ts", import.meta.url));
  readonly #waiting = new Map<number, Waiting>();
  failed = false;

  constructor() {
    this.#worker.on("message", (reply: BuildReply) => this.#receive(reply));
    this.#worker.on("error", (error: Error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("a thread that builds segments has ended")));
    // Listeners keep a process alive; only requests should.
    this.#worker.unref();
  }

  get load(): number {
    return this.#waiting.size;
  }

  build(request: BuildRequest): Promise<SharedArrayBuffer> {
    const waiting = Promise.withResolvers<SharedArrayBuffer>();
    this.#waiting.set(request.ticket, waiting);
    this.#worker.ref();
    this.#worker.postMessage(request);
    return waiting.promise;
  }

  #receive(reply: BuildReply): void {
    const waiting = this.#waiting.get(reply.ticket);
    this.#waiting.delete(reply.ticket);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("buffer" in reply) waiting?.resolve(reply.buffer);
    else waiting?.reject(new Error(`cannot build a text segment: ${reply.failure}`));
  }

  #fail(error: Error): void {
    this.failed = true;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

/**
 * Builds segments on other threads, so that large imports use more than one core and the indexing
 * thread stays free for changes. The threads start with the first request and end with the indexing
 * thread. One that fails is replaced; its requests are rejected.
 */
export class BuildThreads {
  #threads: BuildThread[] = [];
  #lastTicket = 0;
  /** The number of threads; leaves a core for the indexing thread. */
  readonly size = Math.min(TEXT_BUILD_THREADS_MAX, Math.max(1, availableParallelism() - 1));

  build(rows: readonly TextRow[]): Promise<SharedArrayBuffer> {
    this.#threads = this.#threads.filter((thread) => !thread.failed);
    return this.#leastLoaded().build({ ticket: ++this.#lastTicket, rows });
  }

  #leastLoaded(): BuildThread {
    const [first, ...others] = this.#threads.toSorted((a, b) => a.load - b.load);
    const isFree = first !== undefined && first.load === 0;
    if (isFree || (first !== undefined && others.length + 1 >= this.size)) return first;
    const added = new BuildThread();
    this.#threads.push(added);
    return added;
  }
}

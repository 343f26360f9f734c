import { Worker } from "node:worker_threads";
import { TEXT_THREAD_IDLE_MS } from "../../../shared/limits.ts";
import type { MergedSegment } from "../../text/index.ts";
import type { SegmentReply, SegmentRequest, SegmentTask } from "./segment-task.ts";

type Waiting = PromiseWithResolvers<MergedSegment>;

/** A thread and the requests that it has not answered yet. */
class SegmentThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  ended = false;

  constructor(niceness: number) {
    this.#worker = new Worker(new URL("./segment-thread.ts", import.meta.url), {
      workerData: niceness,
    });
    this.#worker.on("message", (reply: SegmentReply) => this.#receive(reply));
    this.#worker.on("error", (error: Error) => this.#end(error));
    this.#worker.on("exit", () => this.#end(new Error("a thread that makes segments has ended")));
    // Listeners keep a process alive; only requests should.
    this.#worker.unref();
  }

  get load(): number {
    return this.#waiting.size;
  }

  run(request: SegmentRequest): Promise<MergedSegment> {
    clearTimeout(this.#idleTimer);
    const waiting = Promise.withResolvers<MergedSegment>();
    this.#waiting.set(request.ticket, waiting);
    this.#worker.ref();
    this.#worker.postMessage(request);
    return waiting.promise;
  }

  #receive(reply: SegmentReply): void {
    const waiting = this.#waiting.get(reply.ticket);
    this.#waiting.delete(reply.ticket);
    if (this.#waiting.size === 0) this.#rest();
    if ("buffer" in reply) waiting?.resolve(reply);
    else waiting?.reject(new Error(`cannot make a text segment: ${reply.failure}`));
  }

  /** An idle thread keeps the memory of its last tasks, so it ends after a while. */
  #rest(): void {
    this.#worker.unref();
    this.#idleTimer = setTimeout(() => {
      this.ended = true;
      void this.#worker.terminate();
    }, TEXT_THREAD_IDLE_MS);
    this.#idleTimer.unref();
  }

  #end(error: Error): void {
    this.ended = true;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

/**
 * Builds and merges segments on other threads, so that large imports use more than one core and the
 * indexing thread stays free for changes. The threads start when they are needed and end when they
 * are idle. One that fails is replaced; its requests are rejected.
 */
export class SegmentThreads {
  #threads: SegmentThread[] = [];
  #lastTicket = 0;

  /**
   * @param size the number of threads at most
   * @param niceness more than 0 lets all other threads go first
   */
  constructor(
    readonly size: number,
    private readonly niceness = 0,
  ) {}

  run(task: SegmentTask): Promise<MergedSegment> {
    this.#threads = this.#threads.filter((thread) => !thread.ended);
    return this.#leastLoaded().run({ ticket: ++this.#lastTicket, task });
  }

  #leastLoaded(): SegmentThread {
    const [first, ...others] = this.#threads.toSorted((a, b) => a.load - b.load);
    const isFree = first !== undefined && first.load === 0;
    if (isFree || (first !== undefined && others.length + 1 >= this.size)) return first;
    const added = new SegmentThread(this.niceness);
    this.#threads.push(added);
    return added;
  }
}

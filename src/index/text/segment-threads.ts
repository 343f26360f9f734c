import { SupervisedThread } from "../../ops/threads/supervised-thread.ts";
import type { MergedSegment } from "../segments/index.ts";
import type { SegmentProtocol, SegmentTask } from "./segment-task.ts";

/** A thread that builds or merges segments ends after this time without work. */
const TEXT_THREAD_IDLE_MS = 20_000;

type SegmentThread = SupervisedThread<SegmentProtocol>;

/**
 * Builds and merges segments on other threads, so that large imports use more than one core and the
 * indexing thread stays free for changes. The threads start when they are needed and end when they
 * are idle, because an idle one keeps the memory of its last tasks. One that fails is replaced; its
 * tasks are rejected.
 */
export class SegmentThreads {
  #threads: SegmentThread[] = [];

  /**
   * @param size maximum number of threads
   * @param niceness more than 0 lets all other threads go first
   */
  constructor(
    readonly size: number,
    private readonly niceness = 0,
  ) {}

  async run(task: SegmentTask): Promise<MergedSegment> {
    this.#threads = this.#threads.filter((thread) => !thread.hasEnded);
    const result = await this.#leastLoaded().run(task);
    if ("buffer" in result) return result;
    throw new Error(`cannot make a text segment: ${result.failure}`);
  }

  #leastLoaded(): SegmentThread {
    const [first, ...others] = this.#threads.toSorted((a, b) => a.load - b.load);
    const isFree = first !== undefined && first.load === 0;
    if (isFree || (first !== undefined && others.length + 1 >= this.size)) return first;
    const added = new SupervisedThread<SegmentProtocol>({
      entry: new URL("./segment-thread.ts", import.meta.url),
      name: "tessera-segments",
      options: { niceness: this.niceness },
      idleMs: TEXT_THREAD_IDLE_MS,
    });
    this.#threads.push(added);
    return added;
  }
}

import { INDEX_IDLE_MS, INDEX_LOADED_MIN_MS } from "../../domain/limits.ts";

/** Above this multiple of the memory that indexes may use, projects in use are unloaded, too. */
const INDEX_MEMORY_EXCESS_MAX = 1.25;

interface Evictable {
  /** Native memory of all projects, in bytes. */
  bytes(): number;
  /** Projects that searches may use. */
  count(): number;
  /**
   * Drops the project that has been idle for longest at the time `now`, among the projects that were loaded before
   * `loadedBefore` and idle for more than `idleMs`; false without such a project.
   */
  evict(now: number, loadedBefore: number, idleMs: number): Promise<boolean>;
}

/**
 * Keeps the projects within the memory that indexes may use. Idle projects are evicted first. Those in
 * use may exceed the budget a little, and then make room for one another: otherwise requests to many
 * projects could use up the memory of the machine. A single project always stays.
 */
export class MemoryBudget {
  constructor(
    private readonly budgetBytes: number,
    private readonly projects: Evictable,
  ) {}

  async enforce(): Promise<void> {
    const { projects } = this;
    const now = performance.now();
    while (this.#isExceeded(1) && (await projects.evict(now, now, INDEX_IDLE_MS)));
    const loadedBefore = now - INDEX_LOADED_MIN_MS;
    while (this.#isExceeded(INDEX_MEMORY_EXCESS_MAX) && projects.count() > 1) {
      if (!(await projects.evict(now, loadedBefore, 0))) return;
    }
  }

  #isExceeded(share: number): boolean {
    return this.projects.bytes() > this.budgetBytes * share;
  }
}

import { projectIdsOf } from "../auth/project-reference.ts";
import type { Queryable } from "../db/client.ts";
import { isAnyLagging, positionOf } from "../indexing/changes/index-state.ts";
import { untilShown } from "../indexing/changes/visibility.ts";

/** How often an import checks whether the indexes keep up with it. */
const IMPORT_INDEX_CHECK_MS = 250;
/** It waits this long for them, and not again when they have not caught up by then. */
const IMPORT_INDEX_WAIT_MAX_MS = 10_000;

/** The longest that an import which was committed as a whole waits until searches see it. */
const VISIBLE_WAIT_MAX_MS = 60_000;

/**
 * Lets the indexes of running services keep up with an import. It pauses while one of them reports
 * that a change of the import's projects, or a file version that an import has announced, has been
 * waiting for longer than changes may.
 */
export class Backpressure {
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** True once the index did not catch up in time. Then the import does not wait for it again. */
  #gaveUp = false;

  constructor(
    private readonly sql: Queryable,
    /** Replaces the defaults. */
    private readonly waitMaxMs?: number,
  ) {}

  /**
   * Waits for IMPORT_INDEX_WAIT_MAX_MS at most.
   * @param projects references
   * @param onWait called before it waits
   */
  async pause(projects: ReadonlySet<string>, onWait?: () => void): Promise<void> {
    const startedAt = performance.now();
    if (this.#gaveUp || startedAt - this.#checkedAt < IMPORT_INDEX_CHECK_MS) return;
    const ids = await projectIdsOf(this.sql, projects);
    while (await isAnyLagging(this.sql, ids)) {
      if (performance.now() - startedAt > (this.waitMaxMs ?? IMPORT_INDEX_WAIT_MAX_MS)) {
        this.#gaveUp = true;
        return;
      }
      onWait?.();
      await Bun.sleep(IMPORT_INDEX_CHECK_MS);
    }
    this.#checkedAt = performance.now();
  }

  /** Waits until all services show what was committed last, for VISIBLE_WAIT_MAX_MS at most. */
  async untilVisible(projects: ReadonlySet<string>): Promise<void> {
    const wanted = await projectIdsOf(this.sql, projects);
    const position = await positionOf(this.sql, wanted);
    const timeoutMs = this.waitMaxMs ?? VISIBLE_WAIT_MAX_MS;
    await untilShown(this.sql, { projects: wanted, position, timeoutMs });
  }
}

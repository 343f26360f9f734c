import type { Queryable } from "../db/client.ts";
import { isAnyLagging } from "../engine/indexing/changes/index-state.ts";
import { IMPORT_INDEX_CHECK_MS, IMPORT_INDEX_WAIT_MAX_MS } from "../shared/limits.ts";

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
    private readonly waitMaxMs = IMPORT_INDEX_WAIT_MAX_MS,
  ) {}

  /** Waits for `waitMaxMs` at most. `projects` are ids or slugs. */
  async pause(projects: ReadonlySet<string>): Promise<void> {
    const startedAt = performance.now();
    if (this.#gaveUp || startedAt - this.#checkedAt < IMPORT_INDEX_CHECK_MS) return;
    while (await isAnyLagging(this.sql, [...projects])) {
      if (performance.now() - startedAt > this.waitMaxMs) {
        this.#gaveUp = true;
        return;
      }
      await Bun.sleep(IMPORT_INDEX_CHECK_MS);
    }
    this.#checkedAt = performance.now();
  }
}

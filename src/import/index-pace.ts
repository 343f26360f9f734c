import type { Queryable } from "../db/client.ts";
import {
  CHANGE_VISIBLE_BOUND_MS,
  IMPORT_INDEX_CHECK_MS,
  IMPORT_INDEX_WAIT_MAX_MS,
  INDEX_STATE_FRESH_SECONDS,
} from "../shared/limits.ts";

/**
 * Lets the indexes of running services keep up with an import. It pauses while one of them reports
 * that a change of the import's projects, or a file version that an import has announced, has been
 * waiting for longer than changes may.
 */
export class IndexPace {
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
    while (await this.#lags([...projects])) {
      if (performance.now() - startedAt > this.waitMaxMs) {
        this.#gaveUp = true;
        return;
      }
      await Bun.sleep(IMPORT_INDEX_CHECK_MS);
    }
    this.#checkedAt = performance.now();
  }

  /** Compares with the time of each report, since reports are some seconds apart. */
  async #lags(projects: readonly string[]): Promise<boolean> {
    const [row] = await this.sql<{ lags: boolean }[]>`
      SELECT EXISTS (
        SELECT FROM index_state s JOIN projects p ON p.id = s.project_id
        WHERE (p.slug = ANY(${projects as string[]}) OR p.id::text = ANY(${projects as string[]}))
          AND s.updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS})
          AND (s.waiting_ms > ${CHANGE_VISIBLE_BOUND_MS} OR EXISTS (
            SELECT FROM change_log c WHERE c.project_id = s.project_id AND c.seq > s.seq
              AND c.at < s.updated_at - make_interval(secs => ${CHANGE_VISIBLE_BOUND_MS / 1_000})))
      ) AS lags`;
    return row?.lags === true;
  }
}

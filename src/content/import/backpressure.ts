import { projectIdsOf } from "../../auth/project-reference.ts";
import type { Queryable } from "../../db/client.ts";
import { CHANGE_VISIBLE_BOUND_MS } from "../../domain/limits.ts";
import { ChangeLog } from "../../index/changes/change-log.ts";
import { untilShown } from "../../index/changes/visibility.ts";

/** Interval at which an import checks whether the indexes keep up with it. */
const IMPORT_INDEX_CHECK_MS = 250;
/** Maximum wait for the indexes. After a wait that was too short, the import does not wait again. */
const IMPORT_INDEX_WAIT_MAX_MS = 10_000;

/** Maximum wait of an import in one transaction until searches see it. */
const VISIBLE_WAIT_MAX_MS = 60_000;

/** Lets the indexes of running services keep up with an import. */
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
   * Waits until all services show the changes of the import's projects, and the announced file versions, that are older
   * than CHANGE_VISIBLE_BOUND_MS. Waits for IMPORT_INDEX_WAIT_MAX_MS at most.
   *
   * @param references of projects
   * @param onWait called before services are asked again
   */
  async pause(references: ReadonlySet<string>, onWait = () => {}): Promise<void> {
    if (this.#gaveUp || performance.now() - this.#checkedAt < IMPORT_INDEX_CHECK_MS) return;
    const { sql, waitMaxMs = IMPORT_INDEX_WAIT_MAX_MS } = this;
    const projects = await projectIdsOf(sql, references);
    const position = await new ChangeLog(sql).newest({ projects, ageMs: CHANGE_VISIBLE_BOUND_MS });
    const signal = AbortSignal.timeout(waitMaxMs);
    const shown = { projects, position, announced: true, signal, onWait };
    this.#gaveUp = !(await untilShown(sql, shown));
    this.#checkedAt = performance.now();
  }

  /** Waits until all services show the last commit, for VISIBLE_WAIT_MAX_MS at most. */
  async untilVisible(references: ReadonlySet<string>): Promise<void> {
    const { sql, waitMaxMs = VISIBLE_WAIT_MAX_MS } = this;
    const projects = await projectIdsOf(sql, references);
    const position = await new ChangeLog(sql).newest({ projects });
    await untilShown(sql, { projects, position, signal: AbortSignal.timeout(waitMaxMs) });
  }
}

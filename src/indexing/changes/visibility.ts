import { INDEX_REPORTS_CHANNEL } from "../../db/channels.ts";
import type { Queryable } from "../../db/client.ts";
import { CHANGE_VISIBLE_BOUND_MS, INDEX_STATE_FRESH_SECONDS } from "../../shared/limits.ts";
import type { Position } from "../../shared/position.ts";

/** Interval at which a wait reads the reports of servers. */
const REPORTS_POLL_MS = 50;
/** Interval at which a wait requests reports. */
const REPORTS_WANTED_MS = 250;

interface Wait {
  /** Ends the wait. Without it, only the condition ends the wait. */
  readonly signal?: AbortSignal;
  /** Interval between two reads. */
  readonly pollMs?: number;
  /** Called before each further request for reports. */
  onWait?(): unknown;
}

interface Shown {
  /** Ids of projects. */
  readonly projects: readonly string[];
  readonly position: Position;
  /** True if file versions that imports have announced count as well, unless they are younger than changes may be. */
  readonly announced?: boolean;
}

/**
 * Waits until the reports of servers meet a condition. Servers report regularly, and immediately on request. Returns
 * false if the signal ends the wait.
 */
export async function untilReported(
  sql: Queryable,
  holds: () => Promise<boolean>,
  { signal, pollMs = REPORTS_POLL_MS, onWait }: Wait,
): Promise<boolean> {
  let askedAt: number | undefined;
  while (!(await holds())) {
    if (signal?.aborted) return false;
    const now = performance.now();
    if (askedAt === undefined || now - askedAt >= REPORTS_WANTED_MS) {
      if (askedAt !== undefined) await onWait?.();
      await sql`SELECT pg_notify(${INDEX_REPORTS_CHANNEL}, '')`;
      askedAt = now;
    }
    await Bun.sleep(pollMs);
  }
  return true;
}

/** Waits until searches on all running servers see the projects as of a position, as `untilReported` does. */
export async function untilShown(
  sql: Queryable,
  { projects, position, announced = false, ...wait }: Shown & Wait,
): Promise<boolean> {
  // A server that has read the log up to the position and reports nothing of a project has not loaded it.
  const isShown = async () => {
    const [row] = await sql<{ hides: boolean }[]>`
      SELECT EXISTS (
        SELECT FROM index_nodes WHERE seq < ${position.seq}
          AND updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS})
      ) OR EXISTS (
        SELECT FROM index_state s JOIN projects p ON p.id = s.project_id
        WHERE p.id = ANY (${projects as string[]}::uuid[])
          AND s.updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS})
          AND (s.seq < ${position.seq} OR ${announced} AND s.waiting_ms > ${CHANGE_VISIBLE_BOUND_MS})
      ) AS hides`;
    return row?.hides === false;
  };
  return await untilReported(sql, isShown, wait);
}

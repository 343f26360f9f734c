import { INDEX_REPORTS_CHANNEL } from "../../db/channels.ts";
import type { Queryable } from "../../db/client.ts";
import {
  CHANGE_VISIBLE_BOUND_MS,
  INDEX_STATE_FRESH_SECONDS,
  REVOCATION_BOUND_MS,
} from "../../domain/limits.ts";
import type { Position } from "../../domain/position.ts";

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
  /**
   * True for an import that lets servers keep up with it. File versions that imports have announced count as well, unless
   * they are younger than changes may be, and reports from before the wait do, too.
   */
  readonly announced?: boolean;
}

/** Asks servers for reports. Returns the time of the request in seconds since 1970. */
async function requestReports(sql: Queryable): Promise<number> {
  const [row] = await sql<[{ at: number }]>`
    SELECT at, pg_notify(${INDEX_REPORTS_CHANNEL}, at::text)
    FROM (SELECT extract(epoch FROM clock_timestamp())::float8 AS at OFFSET 0) AS request`;
  return row.at;
}

/**
 * Waits until the reports of servers meet a condition, which gets the time of the first request for them. Servers report
 * regularly, and immediately on request. Returns false if the signal ends the wait.
 */
export async function untilReported(
  sql: Queryable,
  holds: (requestedAt: number) => Promise<boolean>,
  { signal, pollMs = REPORTS_POLL_MS, onWait }: Wait,
): Promise<boolean> {
  const first = await requestReports(sql);
  let askedAt = performance.now();
  while (!(await holds(first))) {
    if (signal?.aborted) return false;
    if (performance.now() - askedAt >= REPORTS_WANTED_MS) {
      await onWait?.();
      await requestReports(sql);
      askedAt = performance.now();
    }
    await Bun.sleep(pollMs);
  }
  return true;
}

/**
 * Waits until searches on all running servers see the projects as of a position, and the environments as they are now, as
 * `untilReported` does.
 */
export async function untilShown(
  sql: Queryable,
  { projects, position, announced = false, ...wait }: Shown & Wait,
): Promise<boolean> {
  // A server that has read the log up to the position and reports nothing of a project has not loaded it.
  const isShown = async (requestedAt: number) => {
    // The caches of a server that does not receive requests have expired after REVOCATION_BOUND_MS.
    const [row] = await sql<{ hides: boolean }[]>`
      SELECT EXISTS (
        SELECT FROM index_nodes
        WHERE (seq < ${position.seq} OR answered < ${requestedAt}
            AND updated_at < to_timestamp(${requestedAt + REVOCATION_BOUND_MS / 1_000}))
          AND updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS})
      ) OR EXISTS (
        SELECT FROM index_state s JOIN projects p ON p.id = s.project_id
        WHERE p.id = ANY (${projects as string[]}::uuid[])
          AND s.updated_at > now() - make_interval(secs => ${INDEX_STATE_FRESH_SECONDS})
          AND (s.seq < ${position.seq} OR ${announced} AND s.waiting_ms > ${CHANGE_VISIBLE_BOUND_MS})
      ) AS hides`;
    return row?.hides === false;
  };
  if (announced && (await isShown(0))) return true;
  return await untilReported(sql, isShown, wait);
}

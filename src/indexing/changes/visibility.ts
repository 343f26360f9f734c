import { INDEX_REPORTS_CHANNEL } from "../../db/channels.ts";
import type { Queryable } from "../../db/client.ts";
import { isAnyBefore } from "./index-state.ts";

/** How often those who wait look at what servers report. */
const VISIBLE_POLL_MS = 50;
/** How often they ask servers to report. */
const REPORTS_WANTED_MS = 250;

interface Shown {
  /** Ids of projects. */
  readonly projects: readonly string[];
  /** A position in the change log. */
  readonly position: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called before every look but the first. */
  onWait?(): Promise<void>;
}

/**
 * Waits until searches on all running servers see the projects as of a position. Servers report regularly,
 * and at once when they are asked. False when the time is over or the signal ends the wait.
 */
export async function untilShown(sql: Queryable, shown: Shown): Promise<boolean> {
  const { projects, position, timeoutMs, signal, onWait } = shown;
  const startedAt = performance.now();
  let askedAt = Number.NEGATIVE_INFINITY;
  while (await isAnyBefore(sql, projects, position)) {
    const now = performance.now();
    if (signal?.aborted || now - startedAt > timeoutMs) return false;
    if (now - askedAt > REPORTS_WANTED_MS) {
      await sql`SELECT pg_notify(${INDEX_REPORTS_CHANNEL}, '')`;
      askedAt = now;
    }
    await onWait?.();
    await Bun.sleep(VISIBLE_POLL_MS);
  }
  return true;
}

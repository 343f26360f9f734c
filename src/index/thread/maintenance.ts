import type { LoadedProjects } from "../projects/loaded-projects.ts";

/** How soon maintenance is looked for again. */
const INDEX_MAINTENANCE_POLL_MS = 50;
/** While changes are indexed, maintenance on their thread pauses for this many times its running time. */
const INDEX_MAINTENANCE_REST = 3;

/**
 * Runs the indexes' maintenance in slices, for as long as the thread lives. While changes are being
 * indexed, it rests for longer than it runs: entries that wait for maintenance can be searched,
 * changes that wait to be indexed cannot.
 */
export async function maintainWhile(
  running: () => boolean,
  projects: LoadedProjects,
): Promise<void> {
  while (running()) {
    const startedAt = performance.now();
    const left = projects.maintain();
    const took = performance.now() - startedAt;
    if (left !== "more") await Bun.sleep(INDEX_MAINTENANCE_POLL_MS);
    else if (projects.isIndexing()) await Bun.sleep(took * INDEX_MAINTENANCE_REST);
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

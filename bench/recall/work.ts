import type { Project } from "./project.ts";

type Answer = ReturnType<Project["search"]>;

/**
 * What a search reads, counted in codes of one bit per element that a scan reads. A walk jumps about
 * in memory, so its codes count three times. The two bits that make a code one of three are twice as long, a full
 * vector 32 times.
 */
const WALK = 3;
const CODE_3_BIT = 2;
const VECTOR = 32;

/** @param scanned the codes that a scan of the scope reads; what a scan reads beyond, a walk has read */
function costOf({ plan, work }: Answer, scanned: number): number {
  const inScan = plan === "scan" ? Math.min(work.estimates, scanned) : 0;
  const inWalk = work.estimates - inScan;
  return inScan + WALK * inWalk + CODE_3_BIT * work.codes3Bit + VECTOR * work.vectors;
}

/** The work of the plans that were chosen, divided by that of the better one of the fixed plans. */
export function workRatio(
  project: Project,
  scope: string,
  queries: readonly Float32Array<ArrayBuffer>[],
  limit: number,
): number {
  let [chosen, scan, graph] = [0, 0, 0];
  for (const query of queries) {
    const byScan = project.search(scope, query, limit, "scan");
    const scanned = byScan.work.estimates;
    chosen += costOf(project.search(scope, query, limit), scanned);
    scan += costOf(byScan, scanned);
    graph += costOf(project.search(scope, query, limit, "graph"), scanned);
  }
  return chosen / Math.min(scan, graph);
}

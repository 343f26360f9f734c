import { INDEX_STEP_LONG_MS } from "../shared/limits.ts";

/** Step by name, with the milliseconds of its longest run since it was last asked for. */
const longest = new Map<string, number>();

/**
 * Runs something that holds up everything else on this thread, and notes how long it took. A step
 * beyond INDEX_STEP_LONG_MS delays every change that is waiting, so it is worth to be known.
 */
export function step<T>(name: string, work: () => T): T {
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    noteStep(name, performance.now() - startedAt);
  }
}

export function noteStep(name: string, took: number): void {
  if (took < INDEX_STEP_LONG_MS) return;
  longest.set(name, Math.max(took, longest.get(name) ?? 0));
}

/** The long steps since the last call, by name, in milliseconds. */
export function takeLongSteps(): Record<string, number> {
  const steps = Object.fromEntries([...longest].map(([name, took]) => [name, Math.round(took)]));
  longest.clear();
  return steps;
}

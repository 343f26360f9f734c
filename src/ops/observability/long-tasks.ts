/** Longer tasks of the indexing thread are logged at the level `debug`. */
const LONG_TASK_MS = 25;

/** The longest run of each task since the last report, in milliseconds. */
const longest = new Map<string, number>();

/**
 * Runs a synchronous task and records its duration when it exceeds LONG_TASK_MS: the thread can do
 * nothing else meanwhile.
 */
export function timed<T>(name: string, task: () => T): T {
  const startedAt = performance.now();
  try {
    return task();
  } finally {
    recordTask(name, performance.now() - startedAt);
  }
}

export function recordTask(name: string, durationMs: number): void {
  if (durationMs < LONG_TASK_MS) return;
  longest.set(name, Math.max(durationMs, longest.get(name) ?? 0));
}

/** The long tasks since the last call: the longest run by name, in milliseconds. */
export function takeLongTasks(): Record<string, number> {
  const tasks = Object.fromEntries([...longest].map(([name, ms]) => [name, Math.round(ms)]));
  longest.clear();
  return tasks;
}

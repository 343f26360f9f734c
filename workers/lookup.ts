import { lookUp } from "../src/engine/text/index.ts";
import type { LookupReply, LookupResult, LookupTask } from "./protocol.ts";

/** Answers one page of a lookup from memory that all threads share. */
export function lookup({ view, ...query }: LookupTask): LookupResult {
  const startedAt = performance.now();
  const page = lookUp(view, query);
  return { ...page, took: performance.now() - startedAt };
}

/** Answers a batch of lookups; one that fails does not affect the others. */
export function lookUpAll(tasks: readonly LookupTask[]): LookupReply[] {
  return tasks.map((task) => {
    try {
      return lookup(task);
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      return { reason: "failed", message };
    }
  });
}

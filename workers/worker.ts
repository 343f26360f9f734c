import { SEARCH_WORKER_NICENESS } from "../src/shared/limits.ts";
import { setThreadNiceness } from "../src/shared/thread-priority.ts";
import type { SearchReply, SearchResult, SearchTask } from "./protocol.ts";
import { search } from "./search.ts";

// Under overload the main thread must not wait for a core: it refuses, and accepted searches wait for it.
setThreadNiceness(SEARCH_WORKER_NICENESS);

/** The entry point of a search worker: answers a batch of searches. */
export default function searchAll({ requests }: SearchTask): SearchResult {
  const replies: SearchReply[] = [];
  const took: number[] = [];
  for (const request of requests) {
    const startedAt = performance.now();
    replies.push(search(request));
    took.push(performance.now() - startedAt);
  }
  return { replies, took };
}

// The same threads answer lookups: Piscina calls an export of its file by name.
export { lookUpAll } from "./lookup.ts";

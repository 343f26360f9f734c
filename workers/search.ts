import * as native from "../native/index.ts";
import type { SearchReply, SearchRequest, SearchResult, SearchTask } from "./protocol.ts";

function search(request: SearchRequest): native.SearchOutcome {
  const { project, scopeId, body, selfPath, vector } = request;
  if (vector === undefined) return native.searchJson(project, scopeId, body, selfPath);
  const { dimension, limit, threshold } = vector;
  return native.searchVector(project, scopeId, body, dimension, limit, threshold, selfPath);
}

/** Runs one search. The native module reads memory that all threads of the process share. */
export function replyTo(request: SearchRequest): SearchReply {
  try {
    const outcome = search(request);
    if (outcome === native.UNUSUAL) return { reason: "unusual", body: request.body };
    if (outcome === native.NOT_RESIDENT) return { reason: "not-resident", body: request.body };
    return outcome;
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { reason: "failed", message };
  }
}

/** The pool's entry point: answers a batch of searches, each on its own. */
export default function searchAll({ requests }: SearchTask): SearchResult {
  const replies: SearchReply[] = [];
  const took: number[] = [];
  for (const request of requests) {
    const startedAt = performance.now();
    replies.push(replyTo(request));
    took.push(performance.now() - startedAt);
  }
  return { replies, took };
}

// The same threads answer lookups: Piscina runs a function of its file by name.
export { lookup } from "./lookup.ts";

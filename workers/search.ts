import * as native from "../native/index.ts";
import type { SearchReply, SearchRequest } from "./protocol.ts";

function runNative(request: SearchRequest): native.SearchOutcome {
  const { project, scopeId, body, selfPath, vector } = request;
  if (vector === undefined) return native.searchJson(project, scopeId, body, selfPath);
  const { dimension, limit, threshold } = vector;
  return native.searchVector(project, scopeId, body, dimension, limit, threshold, selfPath);
}

/** Runs one search. The native module reads memory that all threads of the process share. */
export function search(request: SearchRequest): SearchReply {
  try {
    const outcome = runNative(request);
    if (outcome === native.NEEDS_FULL_PARSE)
      return { reason: "needs-full-parse", body: request.body };
    if (outcome === native.NOT_LOADED) return { reason: "not-loaded", body: request.body };
    return outcome;
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { reason: "failed", message };
  }
}

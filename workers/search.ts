import * as native from "../native/index.ts";
import type { SearchReply, SearchRequest } from "./protocol.ts";

/** Each search of this thread fills it, and it is read before the next one. */
const report: native.SearchReport = new Float64Array(native.SEARCH_REPORT_LENGTH);

type Report = [
  parseMs: number,
  searchMs: number,
  renderMs: number,
  plan: number,
  ignored: number,
  rescoreMs: number,
  scopeVectors: number,
  estimates: number,
  comparisons: number,
  countsAll: number,
];

function runNative(request: SearchRequest): native.SearchOutcome {
  const { project, scopeId, body, selfPath, vector, exact } = request;
  if (vector === undefined) {
    return native.searchJson(project, scopeId, body, selfPath, report, exact);
  }
  const { dimension, limit, threshold } = vector;
  const options = [dimension, limit, threshold] as const;
  return native.searchVector(project, scopeId, body, ...options, selfPath, report, exact);
}

/** Runs one search. The native module reads memory that all threads of the process share. */
export function search(request: SearchRequest): SearchReply {
  try {
    const outcome = runNative(request);
    if (outcome === native.NEEDS_FULL_PARSE)
      return { reason: "needs-full-parse", body: request.body };
    if (outcome === native.NOT_LOADED) return { reason: "not-loaded", body: request.body };
    const [parseMs, searchMs, renderMs, plan, ignored, ...work] = [...report] as Report;
    const [rescoreMs, scopeVectors, estimates, comparisons, countsAll] = work;
    return {
      json: outcome,
      plan: native.PLANS[plan] as native.Plan,
      ignored: ignored > 0 ? native.ignoredFields() : "",
      waitMs: 0,
      countsAll: countsAll === 1,
      ...{ parseMs, searchMs, renderMs, rescoreMs, scopeVectors, estimates, comparisons },
    };
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { reason: "failed", message };
  }
}

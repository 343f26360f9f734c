import type { SearchWork } from "../../engine/requests/request.ts";
import { ignoredFieldsHeader, ignoring } from "../../http/answer-headers.ts";
import { extensionHeader, type ResponseHeaders } from "../../http/operation.ts";
import { entityTag, isCurrent } from "../../http/respond.ts";
import type { Metrics } from "../../ops/observability/metrics.ts";

/**
 * The entity tag of a search in a frozen release whose embeddings are fixed, where the same query always has the
 * same results. An embedder adds embeddings later, and a rebuild replaces them: then the tag is that of the answer.
 * It depends on the request alone, so every node computes the same tag.
 */
export function searchTag(scopeId: string, request: string, body: Uint8Array<ArrayBuffer>): string {
  return entityTag(`${scopeId} ${request} ${entityTag(body)}`);
}

const TIME = '"search_time_ms":';

/** The entity tag of an answer that may change, computed from all of it but the time that the search took. */
export function answerTag(json: Uint8Array<ArrayBuffer>): string {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const at = bytes.lastIndexOf(TIME);
  const rest = bytes.toString("latin1", bytes.indexOf(",", at));
  return entityTag(`${entityTag(json.subarray(0, at))} ${rest}`);
}

/** True when the caller has the answer. `*` does not count: the body may not be a valid query. */
export function hasAnswer(ifNoneMatch: string | null, tag: string): boolean {
  return ifNoneMatch?.trim() !== "*" && isCurrent(ifNoneMatch, tag);
}

const EMPTY = Buffer.from('{"data":[]');

/** True for an answer without results. */
export function isEmpty(json: Uint8Array): boolean {
  return EMPTY.equals(json.subarray(0, EMPTY.length));
}

/** The headers of every search answer, for the documentation. */
export const searchHeaders: ResponseHeaders = {
  ...extensionHeader(
    "Server-Timing",
    "The milliseconds that parsing the request, searching, and rendering the answer took, such " +
      "as `parse;dur=0.041, search;dur=0.180, render;dur=0.012`.",
  ),
  ...extensionHeader(
    "X-Search-Plan",
    "How the chunks were found: `exact` compared all in full precision, `scan` compared the " +
      "codes of all, `graph` walked the index; `empty`: the scope has no chunk of this dimension.",
  ),
  ...extensionHeader(
    "X-Total-Matches",
    "`exact` when `total_matches` counts every chunk that reaches the threshold: after an exact " +
      "search and in scopes of up to about two thousand chunks. `at-least` when there may be more.",
  ),
  ...ignoredFieldsHeader,
};

export function setSearchHeaders(
  headers: Record<string, string>,
  { plan, countsAll, ignored, parseMs, searchMs, renderMs }: SearchWork,
): void {
  const [parse, search, render] = [parseMs.toFixed(3), searchMs.toFixed(3), renderMs.toFixed(3)];
  headers["server-timing"] = `parse;dur=${parse}, search;dur=${search}, render;dur=${render}`;
  headers["x-search-plan"] = plan;
  headers["x-total-matches"] = countsAll ? "exact" : "at-least";
  Object.assign(headers, ignoring(ignored ?? []));
}

/** The stage that finds the candidates of each plan; an exact comparison needs no other. */
const FINDING = { empty: undefined, exact: "exact", scan: "scan", graph: "walk" } as const;

/** Adds the stages of an answered search to the metrics. */
export function recordSearch({ searchStages }: Metrics, work: SearchWork): void {
  const { plan, parseMs, searchMs, rescoreMs, renderMs } = work;
  searchStages.observe("parse", parseMs / 1_000);
  const stage = FINDING[plan];
  if (stage !== undefined) searchStages.observe(stage, (searchMs - rescoreMs) / 1_000);
  if (stage === "scan" || stage === "walk") {
    searchStages.observe("rescore", rescoreMs / 1_000);
  }
  searchStages.observe("render", renderMs / 1_000);
}

const rounded = (milliseconds: number) => Number(milliseconds.toFixed(3));

/** The members of an answered search in the log line of a slow request and in a span. Times are in milliseconds. */
export function describeSearch(work: SearchWork): Readonly<Record<string, string | number>> {
  const { plan, scopeVectors, estimates, comparisons } = work;
  return {
    plan,
    scopeVectors,
    estimates,
    comparisons,
    waitMs: rounded(work.waitMs),
    parseMs: rounded(work.parseMs),
    searchMs: rounded(work.searchMs),
    rescoreMs: rounded(work.rescoreMs),
    renderMs: rounded(work.renderMs),
  };
}

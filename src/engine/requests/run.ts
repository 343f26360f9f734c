import * as native from "../../../native/index.ts";
import { joined } from "../../../native/owned-bytes.ts";
import { retrieve as retrieveNatively } from "../../../native/retrieval.ts";
import { closeTextView, lookUpText, openTextView } from "../../../native/text.ts";
import { wordBreaks } from "../../../native/words.ts";
import type { SharedView } from "../../index/segments/index.ts";
import {
  type EngineRequest,
  type LookupRequest,
  RETRIEVAL_MODES,
  type Reply,
  type RetrieveRequest,
  type SearchRequest,
  type SearchWork,
} from "./request.ts";

/** Maximum open views of a worker, and the idle time after which it closes one. */
const LOOKUP_VIEWS_OPEN = 64;
const LOOKUP_VIEW_IDLE_MS = 30_000;
/** Time budget for counting the facets of a retrieval, which hold up the requests that a worker has after it. */
export const FACETS_MAX_MS = 100;

/** Each search of this thread fills the report, which is read before the next search. */
const searchReport: native.SearchReport = new Float64Array(native.SEARCH_REPORT_LENGTH);

const reported = (name: keyof typeof native.SEARCH_REPORT) =>
  searchReport[native.SEARCH_REPORT[name]] as number;

function search(request: SearchRequest, startedAt: number): Reply<"search"> {
  const { scope, body, selfPath, vector, exact } = request;
  const project = request.project as string;
  const query = { project, scope: scope.id, body, selfPath, ...vector, exact };
  const outcome = native.search(query, searchReport);
  if (outcome === native.NOT_LOADED) return { status: "not-loaded", body };
  // Frees the memory now, for the next body: a collection would free it when it has left the caches.
  body.buffer.transfer(0);
  if (!(outcome instanceof Uint8Array)) return { status: "invalid", faults: outcome };
  const work: SearchWork = {
    waitMs: 0,
    tookMs: performance.now() - startedAt,
    plan: native.PLANS[reported("plan")] as native.Plan,
    ignored: reported("ignored") > 0 ? native.ignoredFields() : null,
    parseMs: reported("parseMs"),
    searchMs: reported("searchMs"),
    renderMs: reported("renderMs"),
    rescoreMs: reported("rescoreMs"),
    scopeVectors: reported("scopeVectors"),
    estimates: reported("estimates"),
    comparisons: reported("comparisons"),
    countsAll: reported("countsAll") === 1,
  };
  return { status: "answered", json: outcome, work };
}

/** A view that is open in native code, which reads the memory that this keeps. */
interface OpenView {
  readonly view: SharedView;
  usedAt: number;
}

/** The views that this thread has open, least recently used first. */
const views = new Map<number, OpenView>();

/** Closes views that were not used recently, so that replaced segments can be freed. */
function closeIdle(now: number): void {
  for (const [number, open] of views) {
    if (views.size <= LOOKUP_VIEWS_OPEN && now - open.usedAt < LOOKUP_VIEW_IDLE_MS) return;
    closeTextView(number);
    views.delete(number);
  }
}

function open(view: SharedView, usedAt: number): void {
  const { number, segments, documentSets } = view;
  const known = views.get(number);
  if (known === undefined) {
    // The indexing thread verified the segments when it built or read them.
    const buffers = segments.map(({ buffer }) => new Uint8Array(buffer));
    openTextView(number, buffers, documentSets);
  }
  views.delete(number);
  views.set(number, { view: known?.view ?? view, usedAt });
  closeIdle(usedAt);
}

/** The parts of a request by text that native code reads: its query, and its page in the view that is open now. */
function asked(request: LookupRequest | RetrieveRequest, startedAt: number) {
  const { query, limit, progress, selfPath, next } = request;
  const view = request.view as SharedView;
  open(view, startedAt);
  return { view: view.number, query, wordBreaks, limit, progress, selfPath, next };
}

function lookup(request: LookupRequest, startedAt: number): Reply<"lookup"> {
  const { shardIndex, shardCount } = request;
  const page = { ...asked(request, startedAt), shardIndex, shardCount };
  const { json, ...found } = lookUpText(page);
  const tookMs = performance.now() - startedAt;
  return { status: "answered", json, work: { waitMs: 0, tookMs, ...found } };
}

function retrieve(request: RetrieveRequest, startedAt: number): Reply<"retrieve"> {
  const { project = null, fields = null, scope, given = null } = request;
  const { vector, threshold, groupSize, diversity, excluded, facets } = request;
  const mode = RETRIEVAL_MODES.indexOf(request.mode);
  const page = asked(request, startedAt);
  const found = retrieveNatively({
    ...page,
    project,
    scope: scope.id,
    mode,
    vector,
    threshold,
    groupSize,
    diversity,
    excluded,
    facets,
    fields,
    facetsMaxMs: FACETS_MAX_MS,
    given,
  });
  if (found === null) return { status: "not-loaded", body: joined([]) };
  if ("isLate" in found) return { status: "late" };
  if ("missing" in found) return { status: "missing-chunks", versionIds: found.missing };
  const { json, ...others } = found;
  const tookMs = performance.now() - startedAt;
  return { status: "answered", json, work: { waitMs: 0, tookMs, ...others } };
}

const RUN = { search, lookup, retrieve } as const;

/** Runs a request on this thread. The native module reads memory that all threads of the process share. */
export function run(request: EngineRequest): Reply {
  const startedAt = performance.now();
  try {
    return (RUN[request.kind] as (request: EngineRequest, startedAt: number) => Reply)(
      request,
      startedAt,
    );
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { status: "failed", message };
  }
}

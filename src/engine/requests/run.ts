import * as native from "../../../native/index.ts";
import {
  RETRIEVAL_NOT_LOADED,
  RETRIEVAL_REPORT_LENGTH,
  RETRIEVAL_UNREAD,
  retrievalProgress,
  retrieve as retrieveNatively,
  unreadVersions,
} from "../../../native/retrieval.ts";
import {
  closeTextView,
  LOOKUP_REPORT_LENGTH,
  lookUpText,
  lookupProgress,
  openTextView,
} from "../../../native/text.ts";
import { analyseQuery, type SharedView, tokenSpans, unitTables } from "../../text/index.ts";
import {
  type EngineRequest,
  type LookupRequest,
  RETRIEVAL_MODES,
  type Reply,
  type RetrieveRequest,
  type SearchRequest,
  type SearchWork,
} from "./request.ts";

/** A worker keeps at most this many views open, and closes those that were idle for this long. */
const LOOKUP_VIEWS_OPEN = 64;
const LOOKUP_VIEW_IDLE_MS = 30_000;

/** Each search of this thread fills it, and it is read before the next one. */
const searchReport: native.SearchReport = new Float64Array(native.SEARCH_REPORT_LENGTH);

/** Where native code puts what, in `searchReport`. Reading places costs nothing, unlike taking a list apart. */
const PLACES = {
  ...{ parseMs: 0, searchMs: 1, renderMs: 2, plan: 3, ignored: 4, rescoreMs: 5 },
  ...{ scopeVectors: 6, estimates: 7, comparisons: 8, countsAll: 9 },
} as const;

const reported = (name: keyof typeof PLACES) => searchReport[PLACES[name]] as number;

function searchNatively(request: SearchRequest): native.SearchOutcome {
  const { scope, body, selfPath, vector, exact } = request;
  const project = request.project as string;
  if (vector === undefined) {
    return native.searchJson(project, scope.id, body, selfPath, searchReport, exact);
  }
  const { dimension, limit, threshold } = vector;
  const options = [dimension, limit, threshold] as const;
  return native.searchVector(project, scope.id, body, ...options, selfPath, searchReport, exact);
}

function search(request: SearchRequest, startedAt: number): Reply<"search"> {
  const json = searchNatively(request);
  const { body } = request;
  if (json === native.NEEDS_FULL_PARSE) return { status: "needs-full-parse", body };
  if (json === native.NOT_LOADED) return { status: "not-loaded", body };
  // Frees the memory now, for the next body: a collection would free it when it has left the caches.
  body.buffer.transfer(0);
  const work: SearchWork = {
    waitMs: 0,
    tookMs: performance.now() - startedAt,
    plan: native.PLANS[reported("plan")] as native.Plan,
    ignored: reported("ignored") > 0 ? native.ignoredFields() : "",
    parseMs: reported("parseMs"),
    searchMs: reported("searchMs"),
    renderMs: reported("renderMs"),
    rescoreMs: reported("rescoreMs"),
    scopeVectors: reported("scopeVectors"),
    estimates: reported("estimates"),
    comparisons: reported("comparisons"),
    countsAll: reported("countsAll") === 1,
  };
  return { status: "answered", json, work };
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

/** Each lookup of this thread fills it, and it is read before the next one. */
const lookupReport = new Float64Array(LOOKUP_REPORT_LENGTH);

const NO_BODY = new Uint8Array(0);

const NOTHING = { words: "", numbers: new Uint32Array(0) };

function lookup(request: LookupRequest, startedAt: number): Reply<"lookup"> {
  const { query, limit, shardIndex, shardCount, progress, selfPath, next } = request;
  const view = request.view as SharedView;
  open(view, startedAt);
  const { words, numbers } = query === null ? NOTHING : analyseQuery(query);
  const page = [limit, shardIndex, shardCount, progress, selfPath, next] as const;
  const { kinds, folded } = unitTables;
  const tokenizer = [kinds, folded, tokenSpans] as const;
  const json = lookUpText(view.number, query, words, numbers, ...page, ...tokenizer, lookupReport);
  const [total, shardItems, hasMore] = lookupReport as unknown as [number, number, number];
  const more = hasMore !== 0;
  const work = {
    waitMs: 0,
    tookMs: performance.now() - startedAt,
    ...{ total, shardItems, more, progress: more ? lookupProgress() : "" },
  };
  return { status: "answered", json, work };
}

const retrievalReport = new Float64Array(RETRIEVAL_REPORT_LENGTH);

function retrieve(request: RetrieveRequest, startedAt: number): Reply<"retrieve"> {
  const { query, vector, limit, threshold, progress, selfPath, next, scope } = request;
  const view = request.view as SharedView;
  open(view, startedAt);
  const { words, numbers } = query === null ? NOTHING : analyseQuery(query);
  const place = [request.project ?? null, scope.id, RETRIEVAL_MODES.indexOf(request.mode)] as const;
  const page = [limit, threshold, progress, selfPath, next, request.given ?? null] as const;
  const tokenizer = [unitTables.kinds, unitTables.folded, tokenSpans] as const;
  const asked = [query, words, numbers, ...place, vector, ...page, ...tokenizer] as const;
  const json = retrieveNatively(view.number, ...asked, retrievalReport);
  if (json === RETRIEVAL_NOT_LOADED) return { status: "not-loaded", body: NO_BODY };
  if (json === RETRIEVAL_UNREAD) return { status: "unread", versionIds: unreadVersions() };
  const [total, hasMore] = retrievalReport as unknown as [number, number];
  const more = hasMore !== 0;
  const tookMs = performance.now() - startedAt;
  const work = { waitMs: 0, tookMs, total, more, progress: more ? retrievalProgress() : "" };
  return { status: "answered", json, work };
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

import {
  closeTextView,
  LOOKUP_REPORT_LENGTH,
  lookUpText,
  lookupProgress,
  openTextView,
} from "../../../native/text.ts";
import { LOOKUP_VIEW_IDLE_MS, LOOKUP_VIEWS_OPEN } from "../../shared/limits.ts";
import { unitTables } from "./analysis/simple-runs.ts";
import { tokenSpans } from "./analysis/token-spans.ts";
import { analyseQuery } from "./query/analyse-query.ts";
import type { Shard } from "./segment/shard.ts";
import type { SharedView } from "./views.ts";

/** Asks for one page of a view: ranked by a query, or all items in path order. */
export interface LookupQuery extends Shard {
  /** Null browses. */
  readonly query: string | null;
  readonly limit: number;
  /** What earlier pages returned: `progress` of the last of them, or "". */
  readonly progress: string;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  /** The cursor of the next page in case there is one, for `page_info.next`. */
  readonly next: string;
}

export interface LookupPage {
  /** The complete response body. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** Matches in the shard. */
  readonly total: number;
  /** Items in the shard. */
  readonly shardItems: number;
  /** True when another page follows. */
  readonly more: boolean;
  /** What the next page has to know; "" when there is none. */
  readonly progress: string;
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

function open(view: SharedView): void {
  const usedAt = performance.now();
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
const report = new Float64Array(LOOKUP_REPORT_LENGTH);

const NOTHING = { words: "", numbers: new Uint32Array(0) };

/** Answers one page of a lookup from memory that all threads share. */
export function lookUp(view: SharedView, request: LookupQuery): LookupPage {
  const { query, limit, shardIndex, shardCount, progress, selfPath, next } = request;
  open(view);
  const { words, numbers } = query === null ? NOTHING : analyseQuery(query);
  const page = [limit, shardIndex, shardCount, progress, selfPath, next] as const;
  const { kinds, folded } = unitTables;
  const tokenizer = [kinds, folded, tokenSpans] as const;
  const json = lookUpText(view.number, query, words, numbers, ...page, ...tokenizer, report);
  const [total, shardItems, more] = report as unknown as [number, number, number];
  return { json, total, shardItems, more: more !== 0, progress: more ? lookupProgress() : "" };
}

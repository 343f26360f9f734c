import { LOOKUP_VIEW_IDLE_MS, LOOKUP_VIEWS_OPEN } from "../src/shared/limits.ts";
import {
  browse,
  countInShard,
  type DocumentAddress,
  openSegment,
  type SegmentReader,
  type SharedView,
  search,
  type View,
} from "../src/text/index.ts";
import type { LookupItem, LookupResult, LookupTask } from "./protocol.ts";

interface OpenView extends View {
  usedAt: number;
  /** Numbers of items by shard, counted once per view. */
  readonly counts: Map<string, number>;
}

/** The views that this thread has open, least recently used first. */
const views = new Map<number, OpenView>();

/** Closes views that were not used recently, so that replaced segments can be freed. */
function closeIdle(now: number): void {
  for (const [number, view] of views) {
    if (views.size <= LOOKUP_VIEWS_OPEN && now - view.usedAt < LOOKUP_VIEW_IDLE_MS) return;
    views.delete(number);
  }
}

function openView(shared: SharedView): OpenView {
  const now = performance.now();
  const known = views.get(shared.number);
  const view = known ?? {
    // The indexing thread verified the segments when it built or read them.
    segments: shared.segments.map((segment) => openSegment(segment.buffer, false)),
    documentSets: shared.documentSets,
    counts: new Map<string, number>(),
    usedAt: now,
  };
  view.usedAt = now;
  views.delete(shared.number);
  views.set(shared.number, view);
  closeIdle(now);
  return view;
}

function shardItems(view: OpenView, task: LookupTask): number {
  const key = `${task.shardIndex}/${task.shardCount}`;
  const counted = view.counts.get(key) ?? countInShard(view, task);
  view.counts.set(key, counted);
  return counted;
}

function segmentOf(view: View, { segment }: DocumentAddress): SegmentReader {
  return view.segments[segment] as SegmentReader;
}

/** A hash of at most 13 characters, which represents a path in the state of a cursor. */
function hashOf(path: string): string {
  return Bun.hash(path).toString(36);
}

function itemOf(view: View, at: DocumentAddress, matchedFields: readonly string[]): LookupItem {
  const segment = segmentOf(view, at);
  const frontmatter = segment.frontmatter(at.document);
  return { path: segment.path(at.document), matchedFields, frontmatter };
}

function searchPage(view: OpenView, task: LookupTask, query: string): LookupResult {
  const returned = new Set(task.returned);
  // At most `returned.size` of these hits were returned before, so the page is among them.
  const limit = returned.size + task.limit + 1;
  const { total, hits } = search(view, { ...task, query, limit });
  const fresh = hits.filter(
    (hit) => !returned.has(hashOf(segmentOf(view, hit).path(hit.document))),
  );
  const page = fresh.slice(0, task.limit);
  const items = page.map((hit) => itemOf(view, hit, hit.matchedFields));
  const more = fresh.length > page.length;
  return { items, total, shardItems: shardItems(view, task), more, hashes: hashesOf(items) };
}

function browsePage(view: OpenView, task: LookupTask): LookupResult {
  const { shardIndex, shardCount, after } = task;
  const request = { shardIndex, shardCount, limit: task.limit + 1 };
  const found = browse(view, after === null ? request : { ...request, after });
  const items = found.slice(0, task.limit).map((at) => itemOf(view, at, []));
  const count = shardItems(view, task);
  const more = found.length > items.length;
  return { items, total: count, shardItems: count, more, hashes: [] };
}

function hashesOf(items: readonly LookupItem[]): string[] {
  return items.map((item) => hashOf(item.path));
}

/** Answers one page of a lookup from memory that all threads share. */
export function lookup(task: LookupTask): LookupResult {
  const view = openView(task.view);
  return task.query === null ? browsePage(view, task) : searchPage(view, task, task.query);
}

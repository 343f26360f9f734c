import { LOOKUP_VIEW_IDLE_MS, LOOKUP_VIEWS_OPEN } from "../src/shared/limits.ts";
import {
  browse,
  countDocuments,
  countInShard,
  type DocumentAddress,
  type Exclusion,
  openSegment,
  type SegmentReader,
  type SharedView,
  search,
  type TextHit,
  type View,
} from "../src/text/index.ts";
import type { LookupReply, LookupResult, LookupTask } from "./protocol.ts";

type Page = Omit<LookupResult, "took">;

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
    ...segmentsOf(shared),
    counts: new Map<string, number>(),
    usedAt: now,
  };
  view.usedAt = now;
  views.delete(shared.number);
  views.set(shared.number, view);
  closeIdle(now);
  return view;
}

function segmentsOf(shared: SharedView): View {
  // The indexing thread verified the segments when it built or read them.
  const segments = shared.segments.map((segment) => openSegment(segment.buffer, false));
  // A set of all documents need not be checked for every document.
  const documentSets = segments.map(({ documentCount }, s) => {
    const set = shared.documentSets[s] ?? null;
    return countDocuments(set, documentCount) === documentCount ? null : set;
  });
  return { segments, documentSets };
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

/**
 * An item of the response in JSON. The frontmatter is stored as JSON and is copied, so a page of long
 * frontmatter costs no parsing.
 */
function itemJson(view: View, at: DocumentAddress, path: string, hit?: TextHit): string {
  const segment = segmentOf(view, at);
  const { document } = at;
  const head = { path, matched_fields: hit?.matchedFields ?? [] };
  const tail = {
    title: segment.title(document),
    snippet: hit?.snippet,
    score: hit && Math.round(hit.score * SCORE_SCALE) / SCORE_SCALE,
  };
  const frontmatter = segment.frontmatterJson(document);
  return `${JSON.stringify(head).slice(0, -1)},"frontmatter":${frontmatter},${JSON.stringify(tail).slice(1)}`;
}

const SCORE_SCALE = 10_000;

/** The items of a page, and their paths. `hits` is empty when browsing. */
function itemsOf(view: View, found: readonly DocumentAddress[], hits: readonly TextHit[]) {
  const paths = found.map((at) => segmentOf(view, at).path(at.document));
  const items = found.map((at, i) => itemJson(view, at, paths[i] as string, hits[i]));
  return { json: `[${items.join()}]`, count: items.length, last: paths.at(-1) ?? null, paths };
}

/** The documents that earlier pages returned; undefined on the first page. */
function returnedBefore(view: View, { returned }: LookupTask): Exclusion | undefined {
  if (returned.length === 0) return undefined;
  const hashes = new Set(returned);
  return {
    size: hashes.size,
    has: (at) => hashes.has(hashOf(segmentOf(view, at).path(at.document))),
  };
}

function searchPage(view: OpenView, task: LookupTask, query: string): Page {
  const { shardIndex, shardCount, limit } = task;
  const request = { query, shardIndex, shardCount, limit, snippets: true };
  const without = returnedBefore(view, task);
  const { total, hits, more } = search(view, without ? { ...request, without } : request);
  const { paths, ...page } = itemsOf(view, hits, hits);
  return { ...page, total, shardItems: shardItems(view, task), more, hashes: paths.map(hashOf) };
}

function browsePage(view: OpenView, task: LookupTask): Page {
  const { shardIndex, shardCount, after } = task;
  const request = { shardIndex, shardCount, limit: task.limit + 1 };
  const found = browse(view, after === null ? request : { ...request, after });
  const shown = found.slice(0, task.limit);
  const { paths: _, ...page } = itemsOf(view, shown, []);
  const count = shardItems(view, task);
  const more = found.length > shown.length;
  return { ...page, total: count, shardItems: count, more, hashes: [] };
}

/** Answers one page of a lookup from memory that all threads share. */
export function lookup(task: LookupTask): LookupResult {
  const startedAt = performance.now();
  const view = openView(task.view);
  const page = task.query === null ? browsePage(view, task) : searchPage(view, task, task.query);
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

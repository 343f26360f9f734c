import type { LookupWork } from "../src/engine/requests/request.ts";
import { type DocumentSet, newView, type SharedView } from "../src/index/segments/index.ts";
import { lookUp } from "./requests.ts";
import type { SegmentContents } from "./segment-contents.ts";

/** Segments and, for each, the documents in scope. */
export interface TextView {
  readonly segments: readonly SegmentContents[];
  readonly documentSets: readonly DocumentSet[];
}

export interface TextHit {
  readonly path: string;
  readonly matched_fields: readonly string[];
  readonly snippet?: {
    readonly text: string;
    readonly matches: ReadonlyArray<readonly [number, number]>;
  };
  readonly score: number;
}

/** What was found, without the times that it took. */
interface TextResult extends Omit<LookupWork, "tookMs" | "waitMs"> {
  readonly hits: readonly TextHit[];
}

interface Options {
  readonly limit?: number;
  readonly shardIndex?: number;
  readonly shardCount?: number;
  readonly progress?: string;
}

/** The same view is opened only once. */
const views = new WeakMap<TextView, SharedView>();

function sharedOf(view: TextView): SharedView {
  let shared = views.get(view);
  if (shared === undefined) {
    const segments = view.segments.map(({ buffer }, s) => {
      return { key: `segment ${s}`, buffer: buffer as SharedArrayBuffer };
    });
    shared = newView(segments, view.documentSets);
    views.set(view, shared);
  }
  return shared;
}

/** More documents than any test has. */
const NO_LIMIT = 1_000_000;

/** Looks up in a view, by default everything that matches; without a query, lists all documents. */
export function searchText(
  view: TextView,
  query: string | null,
  options: Options = {},
): TextResult {
  const page = { limit: NO_LIMIT, selfPath: "/lookup", next: "next", ...options };
  const { json, work } = lookUp(sharedOf(view), query, page);
  const { tookMs: _took, waitMs: _waited, ...found } = work;
  const { data } = JSON.parse(new TextDecoder().decode(json)) as { data: TextHit[] };
  return { ...found, hits: data };
}

export const pathsOf = (hits: readonly TextHit[]): string[] => hits.map(({ path }) => path);

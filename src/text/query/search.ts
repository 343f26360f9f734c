import { RERANK_DOCUMENTS } from "../../shared/limits.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Shard } from "../segment/shard.ts";
import { matchedFields } from "./matched-fields.ts";
import { type Plan, planQuery } from "./plan.ts";
import { Reranker } from "./rerank.ts";
import { scoreSegment } from "./score.ts";
import { BestMatches, type Match, type Order } from "./top-k.ts";
import type { DocumentAddress, TextQuery, TextResult, View } from "./types.ts";

/**
 * Finds and ranks the documents of a view and shard that match a query.
 *
 * A document matches when it holds one of the query's words, a form of it, or, for the last word,
 * a word that starts with it; a word of 4 or more letters that is in no document is taken for
 * misspelt. In a long query only the rarer words decide. A query without any word finds nothing.
 */
export function search(view: View, request: TextQuery): TextResult {
  const plan = planQuery(view, request.query);
  const from = request.offset ?? 0;
  const to = request.limit === undefined ? Number.POSITIVE_INFINITY : from + request.limit;
  const { total, ranked } = rank(view, plan, request, to);
  const page = ranked.slice(from);
  const fields = matchedFields(view, plan, page);
  return {
    total,
    hits: page.map((match, i) => ({ ...match, matchedFields: fields[i] as string[] })),
  };
}

/** The first `limit` matches in order, and how many there are in all. */
function rank(view: View, plan: Plan, shard: Shard, limit: number) {
  const order: Order = (a, b) => b.score - a.score || comparePaths(view, a, b);
  const best = new BestMatches(Math.max(limit, RERANK_DOCUMENTS), order);
  let total = 0;
  view.segments.forEach((segment, s) => {
    const found = scoreSegment(segment, s, view.documentSets[s] ?? null, shard, plan);
    total += found.documents.length;
    for (let i = 0; i < found.documents.length; i++) {
      best.offer(s, found.documents[i] as number, found.scores[i] as number);
    }
  });
  // The second pass always orders the same head, so that ranks do not depend on the limit.
  const ranked = best.sorted();
  const head = ranked.slice(0, RERANK_DOCUMENTS);
  addBonuses(view, plan, head);
  head.sort(order);
  return { total, ranked: [...head, ...ranked.slice(RERANK_DOCUMENTS)].slice(0, limit) };
}

function addBonuses(view: View, plan: Plan, matches: Match[]): void {
  view.segments.forEach((segment, s) => {
    if (!matches.some((match) => match.segment === s)) return;
    const reranker = new Reranker(segment, s, plan);
    for (const match of matches) {
      if (match.segment === s) match.score += reranker.bonus(match.document);
    }
    reranker.close();
  });
}

/** Byte order of paths; within a segment that is the order of documents. */
function comparePaths(view: View, a: DocumentAddress, b: DocumentAddress): number {
  if (a.segment === b.segment) return a.document - b.document;
  const first = (view.segments[a.segment] as SegmentReader).pathBytes(a.document);
  const second = (view.segments[b.segment] as SegmentReader).pathBytes(b.document);
  return Buffer.compare(first, second);
}

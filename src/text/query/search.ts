import { RERANK_DOCUMENTS } from "../../shared/limits.ts";
import type { SegmentReader } from "../segment/reader.ts";
import type { Shard } from "../segment/shard.ts";
import { matchedFields } from "./matched-fields.ts";
import { MatchingTerms } from "./matching-terms.ts";
import { planQuery, type QueryPlan } from "./plan.ts";
import { Reranker } from "./rerank.ts";
import { scoreSegment } from "./score.ts";
import { Snippeter } from "./snippet.ts";
import { type Match, type MatchOrder, TopK } from "./top-k.ts";
import type { DocumentAddress, TextHit, TextQuery, TextResult, View } from "./types.ts";

/**
 * Finds and ranks the documents of a view and shard that match a query.
 *
 * A document matches if it holds a word of the query or another form of it. The last word also
 * matches longer words that start with it. A word of 4 or more letters that no document in scope
 * holds also matches words at one typo's distance. In a long query, common words do not make a
 * document a match. A query without words matches nothing.
 */
export function search(view: View, query: TextQuery): TextResult {
  const plan = planQuery(view, query.query);
  const { limit = Number.POSITIVE_INFINITY, without } = query;
  const { total, ranked } = rank(view, plan, query, limit + (without?.size ?? 0) + 1);
  const rest = without === undefined ? ranked : ranked.filter((match) => !without.has(match));
  const hits = describeHits(view, plan, rest.slice(0, limit), query.snippets ?? false);
  return { total, hits, more: rest.length > limit };
}

/** Adds to matches what the caller shows of them. */
function describeHits(
  view: View,
  plan: QueryPlan,
  matches: readonly Match[],
  snippets: boolean,
): TextHit[] {
  const hits: TextHit[] = matches.map((match) => ({ ...match, matchedFields: [] }));
  view.segments.forEach((segment, s) => {
    const own = hits.filter((hit) => hit.segment === s);
    if (own.length === 0) return;
    const terms = new MatchingTerms(segment, s, plan);
    const snippeter = snippets ? new Snippeter(segment, terms, plan) : null;
    for (const hit of own) {
      hit.matchedFields = matchedFields(segment, hit.document, terms);
      const snippet = snippeter?.snippet(hit.document) ?? null;
      if (snippet !== null) hit.snippet = snippet;
    }
    terms.clear();
  });
  return hits;
}

/** The best `limit` matches in order, and the number of all matches. */
function rank(view: View, plan: QueryPlan, shard: Shard, limit: number) {
  const order: MatchOrder = (a, b) => b.score - a.score || comparePaths(view, a, b);
  const best = Math.max(limit, RERANK_DOCUMENTS);
  const top = new TopK(best, order);
  let total = 0;
  view.segments.forEach((segment, s) => {
    const set = view.documentSets[s] ?? null;
    const found = scoreSegment(segment, s, set, shard, plan, { best, least: top.least });
    total += found.total;
    for (let i = 0; i < found.documents.length; i++) {
      const score = found.scores[i] as number;
      if (score >= top.least) top.offer(s, found.documents[i] as number, score);
    }
  });
  // The second pass always reorders the same matches, so that ranks do not depend on the limit.
  const ranked = top.sorted();
  const head = ranked.slice(0, RERANK_DOCUMENTS);
  addBonuses(view, plan, head);
  head.sort(order);
  return { total, ranked: [...head, ...ranked.slice(RERANK_DOCUMENTS)].slice(0, limit) };
}

function addBonuses(view: View, plan: QueryPlan, matches: Match[]): void {
  view.segments.forEach((segment, s) => {
    if (!matches.some((match) => match.segment === s)) return;
    const reranker = new Reranker(segment, s, plan);
    for (const match of matches) {
      if (match.segment === s) match.score += reranker.bonus(match.document);
    }
    reranker.close();
  });
}

/** Byte order of paths, which is the order of documents within a segment. */
function comparePaths(view: View, a: DocumentAddress, b: DocumentAddress): number {
  if (a.segment === b.segment) return a.document - b.document;
  const first = (view.segments[a.segment] as SegmentReader).pathBytes(a.document);
  const second = (view.segments[b.segment] as SegmentReader).pathBytes(b.document);
  return Buffer.compare(first, second);
}

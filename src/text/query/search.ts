import { matchedFields } from "./matched-fields.ts";
import { MatchingTerms } from "./matching-terms.ts";
import { planQuery, type QueryPlan } from "./plan.ts";
import { type Match, rank } from "./rank.ts";
import { Snippeter } from "./snippet.ts";
import type { TextHit, TextQuery, TextResult, View } from "./types.ts";

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

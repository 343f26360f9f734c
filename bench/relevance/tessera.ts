import { buildSegment, type KnowledgeDocument } from "../../src/index/segments/index.ts";
import { contentsOf } from "../../support/segment-contents.ts";
import { pathsOf, searchText } from "../../support/text-search.ts";
import { RANKS, type SearchSystem } from "./measure.ts";

/**
 * The text core as the system under measurement: all documents in one segment and one shard.
 *
 * @param limit of the results of a query
 */
export function tessera(documents: readonly KnowledgeDocument[], limit = RANKS): SearchSystem {
  const segment = contentsOf(buildSegment(documents));
  const view = { segments: [segment], documentSets: [null] };
  return (query) => pathsOf(searchText(view, query, { limit }).hits);
}

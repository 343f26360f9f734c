import { buildSegment, type KnowledgeDocument, openSegment, search } from "../../src/text/index.ts";
import { RANKS, type SearchSystem } from "./measure.ts";

/** The text core as the system under measurement: all documents in one segment and one shard. */
export function tessera(documents: readonly KnowledgeDocument[]): SearchSystem {
  const segment = openSegment(buildSegment(documents));
  const view = { segments: [segment], documentSets: [null] };
  return (query) =>
    search(view, { query, limit: RANKS, shardIndex: 0, shardCount: 1 }).hits.map((hit) =>
      segment.path(hit.document),
    );
}

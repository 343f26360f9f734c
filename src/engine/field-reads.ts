import type { Indexer } from "../indexing/indexer.ts";
import type { Engine } from "./engine.ts";

/** Reads of fields, which both engines have. */
export const fieldReads = (indexer: Indexer): Pick<Engine, "matching" | "fields" | "facets"> => ({
  matching: (scope, versionIds) => indexer.matching(scope, versionIds),
  fields: (scope) => indexer.fields(scope),
  facets: (scope, matches, names) => indexer.facets(scope, matches, names),
});

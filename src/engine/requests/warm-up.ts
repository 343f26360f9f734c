import { LOOKUP_LIMIT_MAX } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { SharedView } from "../../index/segments/index.ts";
import type { LookupRequest } from "./request.ts";
import { run } from "./run.ts";

/** Words, an identifier, an unfinished word, and scripts whose expressions take longest to compile. */
const QUERIES = [
  "How do I configure the getStaticProps cache?",
  "Größe der Straße",
  "検索基盤",
  "v1.4.1 backup and restor",
];
/** Further rounds gain little. These take some ten milliseconds. */
const ROUNDS = 8;

const SCOPE: Scope = {
  id: "warm-up",
  kind: "environment",
  tenant: "",
  projectId: "",
  frozen: true,
};
/** Views are numbered from 1. */
const EMPTY: SharedView = { number: 0, segments: [], documentSets: [] };
const REQUEST: Omit<LookupRequest, "query"> = {
  kind: "lookup",
  scope: SCOPE,
  selfPath: "",
  view: EMPTY,
  limit: LOOKUP_LIMIT_MAX,
  shardIndex: 0,
  shardCount: 1,
  progress: "",
  next: "",
};

/**
 * Looks some queries up in an empty view, so that the first requests of a client do not wait for code to be compiled.
 */
export function warmUp(): void {
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of QUERIES) run({ ...REQUEST, query });
  }
}

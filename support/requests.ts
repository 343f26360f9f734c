import { joined } from "../native/owned-bytes.ts";
import type { Scope } from "../src/domain/scope.ts";
import type {
  LookupRequest,
  Reply,
  RetrieveRequest,
  SearchRequest,
} from "../src/engine/requests/request.ts";
import { run } from "../src/engine/requests/run.ts";
import type { SharedView } from "../src/index/segments/index.ts";

/** The scope of requests by default. */
export const SCOPE: Scope = {
  tenant: "tenant",
  projectId: "project",
  id: "scope",
  kind: "environment",
  frozen: false,
};

/** A lookup of the first page of a view, as the engine gives it to a thread. */
export function lookupRequest(
  view: SharedView,
  query: string | null,
  options: Partial<LookupRequest> = {},
): LookupRequest {
  return {
    kind: "lookup",
    scope: SCOPE,
    selfPath: "/",
    view,
    query,
    limit: 12,
    shardIndex: 0,
    shardCount: 1,
    progress: "",
    next: "",
    ...options,
  };
}

/** A search by a body of one byte. */
export function searchRequest(number: number, options: Partial<SearchRequest> = {}): SearchRequest {
  const body = joined([Uint8Array.of(number)]);
  return { kind: "search", scope: SCOPE, selfPath: "/", body, exact: false, ...options };
}

/** Looks up on this thread. Throws when the lookup fails. */
export function lookUp(
  view: SharedView,
  query: string | null,
  options: Partial<LookupRequest> = {},
): Reply<"lookup"> & { readonly status: "answered" } {
  const reply = run(lookupRequest(view, query, options)) as Reply<"lookup">;
  if (reply.status !== "answered") throw new Error(JSON.stringify(reply));
  return reply;
}

/** A retrieval without groups, of whatever is best. */
export const PLAIN = {
  groupSize: 0,
  diversity: 0,
  excluded: { chunkIds: [], paths: [], chunks: 0 },
  facets: null,
} as const;

/** Retrieves on this thread. Throws when the retrieval fails. */
export function retrieve(
  view: SharedView,
  options: Partial<RetrieveRequest> & Pick<RetrieveRequest, "mode">,
): Reply<"retrieve"> & { readonly status: "answered" } {
  const reply = run({
    kind: "retrieve",
    scope: SCOPE,
    selfPath: "/",
    view,
    query: null,
    vector: null,
    limit: 10,
    threshold: 0,
    ...PLAIN,
    progress: "",
    next: "",
    ...options,
  }) as Reply<"retrieve">;
  if (reply.status !== "answered") throw new Error(JSON.stringify(reply));
  return reply;
}

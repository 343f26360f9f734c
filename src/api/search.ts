import type { TObject } from "@sinclair/typebox";
import type { OwnedBytes } from "../../native/owned-bytes.ts";
import { filteredScope } from "../content/scopes/filter.ts";
import type { ScopeReference, ScopeResolver } from "../content/scopes/resolver.ts";
import type { Scope } from "../domain/scope.ts";
import type { Engine } from "../engine/engine.ts";
import type { Reply, SearchRequest } from "../engine/requests/request.ts";
import { ROUTING_KEY, routingKeyHeader } from "../http/answer-headers.ts";
import { otherType } from "../http/json-body.ts";
import { responseOf } from "../http/load/large-answers.ts";
import { indexBehind, indexBehindHeader } from "../http/min-change.ts";
import { type Operation, operation } from "../http/operation.ts";
import { isJsonType, mediaType, targetOf } from "../http/request.ts";
import type { Note } from "../http/request-record.ts";
import { JSON_TYPE, REVALIDATE } from "../http/respond.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import { traced } from "../ops/observability/tracing.ts";
import {
  answerTag,
  describeSearch,
  hasAnswer,
  isEmpty,
  recordSearch,
  searchHeaders,
  searchTag,
  setSearchHeaders,
} from "../query/search/answer.ts";
import { filterOf, mayHaveFilter, readOctets, searchProblem } from "../query/search/body.ts";
import {
  EnvironmentSearchParams,
  exampleBody,
  exampleOctets,
  exampleResponse,
  ReleaseSearchParams,
  SearchBody,
  SearchOctets,
  SearchQueryParameters,
  SearchResponse,
} from "../query/search/schema.ts";

const OCTETS_TYPE = "application/octet-stream";

interface SearchServices {
  readonly engine: Engine;
  readonly scopes: ScopeResolver;
  readonly metrics: Metrics;
}

interface SearchCall {
  readonly request: Request;
  readonly query: Readonly<Record<string, string>>;
  readonly basePath: string;
  readonly note: Note;
  readonly found: Scope;
  readonly body: OwnedBytes;
}

/** The request with the filter of its body or of its parameters. Throws a problem when one of them is invalid. */
function read(request: SearchRequest, type: string, query: SearchCall["query"]): SearchRequest {
  if (type !== OCTETS_TYPE) {
    return { ...request, scope: filteredScope(request.scope, filterOf(request.body)) };
  }
  const { filter, vector } = readOctets(request.body, query);
  return { ...request, scope: filteredScope(request.scope, filter), vector };
}

/** Runs a search. Throws a problem when the request is invalid. */
async function answer(
  engine: Engine,
  request: SearchRequest,
  type: string,
  query: SearchCall["query"],
): Promise<Reply<"search"> & { readonly status: "answered" }> {
  const startedAt = performance.now();
  const asked = read(request, type, query);
  const readMs = performance.now() - startedAt;
  const answered = engine.search(asked);
  const reply = answered instanceof Promise ? await answered : answered;
  if (reply.status === "invalid") throw searchProblem(reply.faults, null);
  if (reply.status !== "answered") throw new Error("the engine did not answer a search");
  const { work } = reply;
  return { ...reply, work: { ...work, parseMs: readMs + work.parseMs } };
}

function requireSearchType(type: string, empty: boolean): void {
  if (type === OCTETS_TYPE || isJsonType(type)) return;
  // Without body and type, the missing body is the better message.
  if (type === "" && empty) return;
  throw otherType([JSON_TYPE, OCTETS_TYPE]);
}

/** Answers a search. The body is checked after the credential, the permission, the project and the scope. */
async function search(
  { engine, metrics }: SearchServices,
  isConditional: boolean,
  { request, query, basePath, note, found: scope, body }: SearchCall,
): Promise<Response> {
  const type = mediaType(request);
  requireSearchType(type, body.byteLength === 0);
  const { path: ownPath, target } = targetOf(request.url);
  const path = basePath + ownPath;
  const headers: Record<string, string> = { [ROUTING_KEY]: scope.projectId };
  if (isConditional) headers["cache-control"] = REVALIDATE;
  if (scope.hasFixedEmbeddings) {
    // Computed now, because the body is transferred to the engine and is empty afterwards.
    const tag = searchTag(scope.id, `${type} ${basePath}${target}`, body);
    headers["etag"] = tag;
    if (hasAnswer(request.headers.get("if-none-match"), tag)) {
      return notModified(headers);
    }
  }
  headers["content-type"] = JSON_TYPE;
  // Counting in full precision compares every chunk, too.
  const exact = query["effort"] === "exact" || query["count"] === "exact";
  const asked: SearchRequest = { kind: "search", scope, selfPath: path, body, exact };
  const run = () => answer(engine, asked, type, query);
  const { json, work } = await traced("search", run, (found) => describeSearch(found.work));
  if (isConditional) headers["etag"] ??= answerTag(json);
  setSearchHeaders(headers, work);
  const { etag } = headers;
  const isKnown = etag !== undefined && hasAnswer(request.headers.get("if-none-match"), etag);
  if (isEmpty(json)) {
    const behind = engine.behindMs(scope.projectId, "vectors");
    Object.assign(headers, indexBehind(behind instanceof Promise ? await behind : behind));
  }
  recordSearch(metrics, work);
  note(() => describeSearch(work));
  return isKnown ? notModified(headers) : responseOf(json, { headers });
}

/** The answer to a caller who has the answer already. */
function notModified(headers: Readonly<Record<string, string>>): Response {
  const { "content-type": _, ...others } = headers;
  return new Response(null, { status: 304, headers: others });
}

interface SearchSpec {
  readonly id: string;
  readonly path: string;
  readonly params: TObject;
  readonly summary: string;
  readonly description: string;
  readonly conditional: boolean;
  readonly notFound: "environment-not-found" | "release-not-found";
  readonly scopeRef: (params: Record<string, string>) => ScopeReference;
}

function searchOperation(services: SearchServices, spec: SearchSpec): Operation {
  const { id, path, params, summary, description, conditional, notFound, scopeRef } = spec;
  return operation({
    id,
    method: "POST",
    path,
    tag: "Search",
    summary,
    description,
    permission: "search.query",
    sheddable: true,
    reads: "vectors",
    params,
    query: SearchQueryParameters,
    bodies: {
      [JSON_TYPE]: { schema: SearchBody, example: exampleBody },
      [OCTETS_TYPE]: { schema: SearchOctets, example: exampleOctets },
    },
    isParsedHere: mayHaveFilter,
    response: SearchResponse,
    responseExample: exampleResponse,
    responseHeaders: { ...searchHeaders, ...routingKeyHeader, ...indexBehindHeader },
    conditional,
    problems: ["validation-failed", "project-not-found", notFound],
    find: ({ principal, params: named, readYourWrites }) =>
      services.scopes.resolve(principal, scopeRef(named as Record<string, string>), readYourWrites),
    handle: (call) => search(services, conditional, call as SearchCall),
  });
}

/** POST /projects/{project_reference}/environments/{environmentName}/search, and of releases. */
export function searchOperations(services: SearchServices): Operation[] {
  const common =
    "Finds the chunks whose embedding is nearest to the vector, among those that have the " +
    "requested dimension. Committed changes are visible within a second.";
  return [
    searchOperation(services, {
      id: "searchEnvironment",
      path: "/projects/{project_reference}/environments/{environmentName}/search",
      params: EnvironmentSearchParams,
      summary: "Search the files of an environment by vector",
      description: `${common} An environment with an active release serves that release.`,
      conditional: false,
      notFound: "environment-not-found",
      scopeRef: (params) => ({
        kind: "environment",
        project: params["project_reference"] as string,
        name: params["environmentName"] as string,
      }),
    }),
    searchOperation(services, {
      id: "searchRelease",
      path: "/projects/{project_reference}/releases/{version}/search",
      params: ReleaseSearchParams,
      summary: "Search the files of a release by vector",
      description: `${common} Answers of a frozen release carry an ETag and can be revalidated.`,
      conditional: true,
      notFound: "release-not-found",
      scopeRef: (params) => ({
        kind: "release",
        project: params["project_reference"] as string,
        name: params["version"] as string,
      }),
    }),
  ];
}

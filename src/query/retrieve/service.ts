import type { QueryEmbedder } from "../../content/embeddings/query-embedder.ts";
import { filteredScope } from "../../content/scopes/filter.ts";
import type { ScopeResolver } from "../../content/scopes/resolver.ts";
import { begin, type QuestionCall, selfPathOf } from "../../content/scopes/target.ts";
import type { Sql } from "../../db/client.ts";
import { DEPENDENCY_RETRY_AFTER_SECONDS, DIMENSIONS, WEAK_SCORE } from "../../domain/limits.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { Scope } from "../../domain/scope.ts";
import { base64Of, floatsOf, isDimension, padded } from "../../domain/vector.ts";
import {
  EmbedderAway,
  hasDimension,
  ownDimension,
} from "../../embed/embedders/project-embedders.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Reply, RetrieveRequest } from "../../engine/requests/request.ts";
import type { RequestDetail } from "../../http/request-record.ts";
import { askedQuestion } from "../../ops/observability/question-counts.ts";
import { traced } from "../../ops/observability/tracing.ts";
import { FairSemaphore, SERIAL } from "../../ops/tenants/fair-semaphore.ts";
import { pageResponse, type StoredCursors } from "../stored-cursors.ts";
import { firstQuestion, type Question, type RetrieveState, requireSame } from "./question.ts";
import { RetrieveInput } from "./schema.ts";
import { combined, excludedBy, readSources } from "./sources.ts";

export interface RetrieveServices {
  readonly scopes: ScopeResolver;
  readonly engine: Engine;
  /** The platform's database. */
  readonly sql: Sql;
  readonly queries: QueryEmbedder;
  readonly cursors: StoredCursors<typeof RetrieveState>;
}

type RetrieveWork = Extract<Reply<"retrieve">, { status: "answered" }>["work"];

type RetrieveCall = QuestionCall<RetrieveInput>;

/** Maximum wait for the facets of another request of the same user. */
const FACETS_WAIT_MAX_MS = 500;
const FACETS_LATE = new Problem("overloaded", {
  detail:
    "The values of the facets were not counted in time, because they are many or others of yours are being counted. " +
    "Ask again, for fewer facets at once.",
  headers: { "retry-after": "1" },
});

/** Retrievals with facets, which may hold up a worker for long: one of each user at a time. */
const facetTurns = new FairSemaphore({
  ...SERIAL,
  waitMaxMs: FACETS_WAIT_MAX_MS,
  late: FACETS_LATE,
});

/** The header with the mode of the answer, which differs from that of the question while the embedder is away. */
export const RETRIEVAL = "X-Retrieval";
/** The header that says whether `total_matches` counts all. */
export const TOTAL_MATCHES = "X-Total-Matches";

/** The members of a retrieval in the log line of a slow request and in a span. */
function describe({ waitMs, tookMs, total }: RetrieveWork): RequestDetail {
  const [wait, took] = [Number(waitMs.toFixed(3)), Number(tookMs.toFixed(3))];
  return { waitMs: wait, retrieveMs: took, matches: total };
}

/** The state of a page, with the vector in the form that the engine searches for. */
interface Running extends Omit<RetrieveState, "vector"> {
  readonly vector: Float32Array | null;
}

/** The mode of the answer, the vector that is searched for, and the exclusions. */
type Answering = Pick<Running, "answered" | "vector" | "embedder" | "excluded">;

/**
 * The vector in the dimension in which embeddings are stored. It may be as long as the project's embedder makes
 * them.
 */
function storedVector(vector: string, fingerprint: string | null): Float32Array {
  const given = floatsOf(Buffer.from(vector, "base64"));
  const dimension = given.length;
  if (fingerprint === null) {
    if (isDimension(dimension)) return given;
    const message = `must be one of ${DIMENSIONS.join(", ")}, because the project has no embedder`;
    throw invalid([{ field: "dimension", message }]);
  }
  if (hasDimension(fingerprint, dimension)) return given;
  if (ownDimension(fingerprint) === dimension) return padded(given);
  const message = `the project's embedder is ${fingerprint}, and the vector is by another one, of ${dimension} dimensions`;
  throw invalid([{ field: "vector", message }]);
}

/**
 * Embeds the query if the answer needs that. While the embedder is away, `hybrid` is answered by keyword, and
 * `semantic` gets a problem that names the embedder.
 */
async function answeringOf(
  { queries, sql }: RetrieveServices,
  scope: Scope,
  question: Question,
  call: RetrieveCall,
): Promise<Answering> {
  const { mode } = question;
  const sources = await readSources(sql, scope, question);
  const excluded = excludedBy(sources);
  const byKeyword = { answered: "keyword", vector: null, embedder: null, excluded } as const;
  if (mode === "keyword") return byKeyword;
  try {
    const vector = combined(await queryVectorOf(queries, question, call), sources);
    if (vector === null) return byKeyword;
    const embedder = await queries.fingerprint(scope.projectId, call.readYourWrites);
    return { answered: mode, vector, embedder, excluded };
  } catch (error) {
    if (!(error instanceof EmbedderAway)) throw error;
    if (mode === "hybrid") return byKeyword;
    throw new Problem("dependency-unavailable", {
      detail: `The query cannot be embedded: ${error.message}.`,
      headers: { "retry-after": String(DEPENDENCY_RETRY_AFTER_SECONDS) },
    });
  }
}

/**
 * The vector of the query. Null without a query, and for `hybrid` in a project without an embedder. Throws
 * EmbedderAway.
 */
async function queryVectorOf(
  queries: QueryEmbedder,
  { projectId, mode, query, vector }: Question,
  { principal: { userId: user }, readYourWrites }: RetrieveCall,
): Promise<Float32Array | null> {
  if (vector === null && query === null) return null;
  const fingerprint = await queries.fingerprint(projectId, readYourWrites);
  if (vector !== null) return storedVector(vector, fingerprint);
  if (fingerprint === null) {
    if (mode === "hybrid") return null;
    const message =
      "cannot be embedded, because the project has no embedder: give the project one with PATCH, send a " +
      "vector, or ask by keyword";
    throw invalid([{ field: "query", message }]);
  }
  return await queries.embed({ id: projectId, fingerprint, user }, query as string);
}

/** The state of a first page, or that of a cursor. */
async function stateOf(
  services: RetrieveServices,
  call: RetrieveCall,
  { question, known, scope }: Awaited<ReturnType<typeof begin<RetrieveState>>>,
): Promise<Running> {
  if (known === null) {
    return { question, ...(await answeringOf(services, scope, question, call)), progress: "" };
  }
  await requireSameEmbedder(services, known, call.readYourWrites);
  const vector = known.vector === null ? null : floatsOf(Buffer.from(known.vector, "base64"));
  return { ...known, vector };
}

/** The vector of earlier pages cannot be compared with embeddings of another model. */
async function requireSameEmbedder(
  { queries }: RetrieveServices,
  { question, vector, embedder }: RetrieveState,
  readYourWrites: boolean,
): Promise<void> {
  if (vector === null) return;
  const now = await queries.fingerprint(question.projectId, readYourWrites);
  if (now !== embedder) throw new Problem("invalid-cursor");
}

async function answer(engine: Engine, request: RetrieveRequest) {
  const ask = () => engine.retrieve(request);
  const { facets, scope } = request;
  const reply = await (facets === null ? ask() : facetTurns.run(scope.tenant, ask));
  if (reply.status === "late") throw FACETS_LATE;
  if (reply.status !== "answered") throw new Error(`the engine did not answer: ${reply.status}`);
  return reply;
}

function requestOf(
  scope: Scope,
  { question, answered, vector, excluded, progress }: Running,
  { selfPath, next }: { selfPath: string; next: string },
): RetrieveRequest {
  const { query, limit, threshold, filter, groupSize, diversity, facets } = question;
  return {
    kind: "retrieve",
    scope: filteredScope(scope, filter),
    selfPath,
    mode: answered,
    query,
    vector,
    limit,
    threshold,
    groupSize,
    diversity,
    excluded,
    facets: facets === null ? null : (JSON.parse(facets) as string[]),
    progress,
    next,
  };
}

/** The state that the next page continues from. */
function savedState(state: Running, progress: string): RetrieveState {
  const { vector } = state;
  return { ...state, vector: vector === null ? null : base64Of(vector), progress };
}

/** The number of hits that answer a question in words; 0 if all hits are weak. */
function matchesOf(
  { query }: Question,
  { work }: Extract<Reply<"retrieve">, { status: "answered" }>,
): number {
  const isWeak = query !== null && work.best < WEAK_SCORE;
  return isWeak ? 0 : work.total;
}

/**
 * One page of the best chunks. Throws `project-not-found`, `environment-not-found`, `release-not-found`,
 * `invalid-cursor`, `embedder-mismatch`, `dependency-unavailable`, or a 400 about the body.
 */
export async function retrieve(services: RetrieveServices, call: RetrieveCall): Promise<Response> {
  const { cursors, engine } = services;
  const { body, principal } = call;
  const begun = await begin(services, call, {
    cursor: body.cursor,
    target: body.target,
    first: (projectId) => firstQuestion(projectId, body),
    requireSame: (question) => requireSame(question, body),
  });
  const state = await stateOf(services, call, begun);
  const { question, known, scope } = begun;
  const { projectId } = scope;
  const next = cursors.newCursor();
  const request = requestOf(scope, state, { selfPath: selfPathOf(call), next });
  const run = () => answer(engine, request);
  const found = await traced("retrieve", run, (found) => describe(found.work));
  const { json, work } = found;
  const matches = known === null ? matchesOf(question, found) : null;
  call.note(() => describe(work), askedQuestion(projectId, question.query, matches));
  const page = work.more
    ? await cursors.keep(json, next, savedState(state, work.progress), principal.userId)
    : { json, hasAllCursors: !work.lacksHits };
  const behindMs = work.total === 0 ? await engine.behindMs(projectId, "vectors") : 0;
  const total = work.countsAll ? "exact" : "at-least";
  const headers = { [RETRIEVAL]: state.answered, [TOTAL_MATCHES]: total };
  const fields = RetrieveInput.properties;
  return pageResponse(page, { projectId, behindMs, body, fields, headers });
}

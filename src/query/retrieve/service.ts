import { joined, type OwnedBytes } from "../../../native/owned-bytes.ts";
import type { Principal } from "../../auth/principal.ts";
import type { QueryEmbedder } from "../../content/embeddings/query-embedder.ts";
import { filteredScope } from "../../content/scopes/filter.ts";
import { ScopeNotFound, type ScopeResolver } from "../../content/scopes/resolver.ts";
import { requireSameTarget, scopeRefOf } from "../../content/scopes/target.ts";
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
import type { Note, RequestDetail } from "../../http/request-record.ts";
import { askedQuestion } from "../../ops/observability/question-counts.ts";
import { traced } from "../../ops/observability/tracing.ts";
import { type AnsweredPage, removeCursor } from "../next-page.ts";
import type { StoredCursors } from "../stored-cursors.ts";
import { bestScoreOf } from "./best-score.ts";
import { firstQuestion, type Question, type RetrieveState, requireSame } from "./question.ts";
import type { RetrieveInput } from "./schema.ts";
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

interface RetrieveCall {
  readonly principal: Principal;
  readonly projectRef: string;
  readonly body: RetrieveInput;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  /** True if the request must see all changes that were committed before it. */
  readonly readYourWrites: boolean;
  readonly note: Note;
}

interface Retrieved extends AnsweredPage {
  readonly projectId: string;
  /** The mode of the answer, which differs from that of the question while the embedder is away. */
  readonly mode: RetrieveRequest["mode"];
  /** Whether `total_matches` counts all. */
  readonly countsAll: boolean;
  /** Milliseconds for which a change has been waiting that an empty answer may lack; 0 without one. */
  readonly behindMs: number;
}

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

/** The state that the request asks to continue from, and its scope. */
async function begin(
  services: RetrieveServices,
  call: RetrieveCall,
): Promise<{ state: Running; scope: Scope }> {
  const { scopes, cursors } = services;
  const { principal, projectRef, body } = call;
  // Errors are reported in the order of a lookup: missing project, invalid body, missing scope.
  const known = body.cursor === undefined ? null : await cursors.load(body.cursor);
  const target = known === null ? (body.target ?? null) : known.question.target;
  const scope = await scopes.find(principal, scopeRefOf(projectRef, target), call.readYourWrites);
  const { projectId } = scope;
  if (body.cursor !== undefined) {
    if (known?.question.projectId !== projectId) throw new Problem("invalid-cursor");
    requireSame(known.question, body);
    if (scope instanceof ScopeNotFound) throw scope;
    const asked = known.question.target;
    await requireSameTarget(services, call, { given: body.target, asked, scope });
    await requireSameEmbedder(services, known, call.readYourWrites);
    const vector = known.vector === null ? null : floatsOf(Buffer.from(known.vector, "base64"));
    return { state: { ...known, vector }, scope };
  }
  const question = firstQuestion(projectId, body);
  if (scope instanceof ScopeNotFound) throw scope;
  const answering = await answeringOf(services, scope, question, call);
  return { state: { question, ...answering, progress: "" }, scope };
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
  const reply = await engine.retrieve(request);
  if (reply.status !== "answered") throw new Error(`the engine did not answer: ${reply.status}`);
  return reply;
}

function requestOf(
  scope: Scope,
  { question, answered, vector, excluded, progress }: Running,
  { selfPath, next }: { selfPath: string; next: string },
): RetrieveRequest {
  const { query, limit, threshold, filter, groupSize, diversity } = question;
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
    listsMatches: question.facets !== null,
    progress,
    next,
  };
}

/** The state that the next page continues from. */
function savedState(state: Running, progress: string): RetrieveState {
  const { vector } = state;
  return { ...state, vector: vector === null ? null : base64Of(vector), progress };
}

/** The answer with the facets that its question asks for, after its other members. */
async function withFacets(
  engine: Engine,
  { scope }: RetrieveRequest,
  { facets }: Question,
  { json, work }: Extract<Reply<"retrieve">, { status: "answered" }>,
): Promise<OwnedBytes> {
  if (facets === null) return json;
  const matches = { versionIds: work.matched ?? "", areAll: work.hasAllMatched };
  const counted = await engine.facets(scope, matches, JSON.parse(facets) as string[]);
  return joined([json.subarray(0, -1), Buffer.from(`,"facets":${counted}}`)]);
}

/** The number of hits that answer a question in words; 0 if all hits are weak. */
function matchesOf(
  { query }: Question,
  { json, work }: Extract<Reply<"retrieve">, { status: "answered" }>,
): number {
  const isWeak = query !== null && bestScoreOf(json) < WEAK_SCORE;
  return isWeak ? 0 : work.total;
}

/**
 * One page of the best chunks. Throws `project-not-found`, `environment-not-found`, `release-not-found`,
 * `invalid-cursor`, `embedder-mismatch`, `dependency-unavailable`, or a 400 about the body.
 */
export async function retrieve(services: RetrieveServices, call: RetrieveCall): Promise<Retrieved> {
  const { cursors, engine } = services;
  const { state, scope } = await begin(services, call);
  const next = cursors.newCursor();
  const request = requestOf(scope, state, { selfPath: call.selfPath, next });
  const run = () => answer(engine, request);
  const found = await traced("retrieve", run, (found) => describe(found.work));
  const { work } = found;
  const json = await withFacets(engine, request, state.question, found);
  const matches = state.progress === "" ? matchesOf(state.question, found) : null;
  const asked = askedQuestion(scope.projectId, state.question.query, matches);
  call.note(() => describe(work), asked);
  const { userId } = call.principal;
  const hasAllCursors = work.more
    ? await cursors.save(next, savedState(state, work.progress), userId)
    : !work.lacksHits;
  const page = {
    json: work.more && !hasAllCursors ? removeCursor(json, next) : json,
    hasAllCursors,
  };
  const { projectId } = scope;
  const behindMs = work.total === 0 ? await engine.behindMs(projectId, "vectors") : 0;
  return { projectId, mode: state.answered, countsAll: work.countsAll, behindMs, ...page };
}

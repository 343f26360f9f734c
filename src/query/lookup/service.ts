import type { Principal } from "../../auth/principal.ts";
import {
  type FilterText,
  filteredScope,
  readFilter,
  validFilter,
} from "../../content/scopes/filter.ts";
import { ScopeNotFound, type ScopeResolver } from "../../content/scopes/resolver.ts";
import { otherQuestion, requireSameTarget, scopeRefOf } from "../../content/scopes/target.ts";
import { LOOKUP_LIMIT_MAX } from "../../domain/limits.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LookupRequest, LookupWork } from "../../engine/requests/request.ts";
import type { Note, RequestDetail } from "../../http/request-record.ts";
import type { Metrics } from "../../ops/observability/metrics.ts";
import { askedQuestion } from "../../ops/observability/question-counts.ts";
import { traced } from "../../ops/observability/tracing.ts";
import { type AnsweredPage, removeCursor } from "../next-page.ts";
import type { StoredCursors } from "../stored-cursors.ts";
import type { LookupQuestion, LookupState } from "./question.ts";
import type { LookupBody } from "./schema.ts";

interface LookupServices {
  readonly scopes: ScopeResolver;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly cursors: StoredCursors<typeof LookupState>;
}

interface LookupCall {
  readonly principal: Principal;
  readonly projectRef: string;
  readonly body: LookupBody;
  /** The request's path, for `page_info.self`. */
  readonly selfPath: string;
  /** True if the request must see all changes that were committed before it. */
  readonly readYourWrites: boolean;
  readonly note: Note;
}

/** The members of a lookup in the log line of a slow request and in a span. */
function describe({ waitMs, tookMs, total, shardItems }: LookupWork): RequestDetail {
  const [wait, took] = [Number(waitMs.toFixed(3)), Number(tookMs.toFixed(3))];
  return { waitMs: wait, lookupMs: took, matches: total, items: shardItems };
}

/** The query without leading and trailing whitespace; null if absent. Throws if it is blank. */
function queryOf(body: LookupBody): string | null {
  const query = body.query?.trim();
  if (query === "") throw invalid([{ field: "query", message: "must not be blank" }]);
  return query ?? null;
}

function checkShard(shardIndex: number, shardCount: number): void {
  if (shardIndex < shardCount) return;
  throw invalid([{ field: "shard_index", message: "must be less than shard_count" }]);
}

function filterOf(body: LookupBody): FilterText {
  return validFilter(readFilter(body.filter));
}

function firstQuestion(projectId: string, body: LookupBody): LookupQuestion {
  const shardIndex = body.shard_index ?? 0;
  const shardCount = body.shard_count ?? 1;
  checkShard(shardIndex, shardCount);
  const filter = filterOf(body);
  return {
    projectId,
    target: body.lookup_target ?? null,
    query: queryOf(body),
    ...(filter === null ? {} : { filter }),
    limit: body.limit ?? LOOKUP_LIMIT_MAX,
    shardIndex,
    shardCount,
  };
}

/** Parameters that are sent with a cursor must be those of its question. */
function checkSame(question: LookupQuestion, body: LookupBody): void {
  const same =
    (body.query === undefined || queryOf(body) === question.query) &&
    (body.filter === undefined || filterOf(body) === (question.filter ?? null)) &&
    (body.limit === undefined || body.limit === question.limit) &&
    (body.shard_index === undefined || body.shard_index === question.shardIndex) &&
    (body.shard_count === undefined || body.shard_count === question.shardCount);
  if (!same) throw otherQuestion();
}

/** The state of a cursor. The cursor has to belong to this project and to the question of the body. */
function continued(state: LookupState | null, projectId: string, body: LookupBody): LookupState {
  if (state?.question.projectId !== projectId) throw new Problem("invalid-cursor");
  checkSame(state.question, body);
  return state;
}

interface FoundPage extends AnsweredPage {
  readonly projectId: string;
  /** Milliseconds for which a change has been waiting that an empty answer may lack; 0 without one. */
  readonly behindMs: number;
}

/** The state that the request asks to continue from, and its scope. */
async function begin(services: LookupServices, call: LookupCall) {
  const { scopes, cursors } = services;
  const { principal, projectRef, body } = call;
  // The cursor contains its scope, so it is read first. Nevertheless errors are reported in this order: missing
  // project, invalid body, missing scope.
  const known = body.cursor === undefined ? null : await cursors.load(body.cursor);
  const target = known === null ? (body.lookup_target ?? null) : known.question.target;
  const scope = await scopes.find(principal, scopeRefOf(projectRef, target), call.readYourWrites);
  const { projectId } = scope;
  const state =
    body.cursor === undefined
      ? { question: firstQuestion(projectId, body), progress: "" }
      : continued(known, projectId, body);
  if (scope instanceof ScopeNotFound) throw scope;
  if (known !== null) {
    const { lookup_target: given } = body;
    await requireSameTarget(services, call, { given, asked: known.question.target, scope });
  }
  return { state, scope };
}

/** Runs a lookup. Throws `overloaded`, and `dependency-unavailable` while the project is loading. */
async function answer({ engine, metrics }: LookupServices, request: LookupRequest) {
  const reply = await engine.lookup(request);
  if (reply.status !== "answered") throw new Error(`the engine did not answer: ${reply.status}`);
  metrics.lookups.observe(reply.work.tookMs / 1_000);
  return reply;
}

/**
 * One page of a project's knowledge. Throws `project-not-found`,
 * `environment-not-found`, `release-not-found`, `invalid-cursor`, or a 400 about the body.
 */
export async function lookUp(services: LookupServices, call: LookupCall): Promise<FoundPage> {
  const { cursors } = services;
  const { state, scope } = await begin(services, call);
  const { question, progress } = state;
  const { query, filter, limit, shardIndex, shardCount } = question;
  const next = cursors.newCursor();
  const request: LookupRequest = {
    kind: "lookup",
    scope: filteredScope(scope, filter ?? null),
    selfPath: call.selfPath,
    query,
    limit,
    shardIndex,
    shardCount,
    progress,
    next,
  };
  const run = () => answer(services, request);
  const { json, work } = await traced("lookup", run, (found) => describe(found.work));
  // The number of matches in one shard or page does not decide whether a question has hits.
  const matches = progress === "" && shardCount === 1 ? work.total : null;
  call.note(() => describe(work), askedQuestion(scope.projectId, query, matches));
  const { userId } = call.principal;
  const hasAllCursors =
    !work.more || (await cursors.save(next, { question, progress: work.progress }, userId));
  const page = { json: hasAllCursors ? json : removeCursor(json, next), hasAllCursors };
  const { projectId } = scope;
  const behindMs = work.total === 0 ? await services.engine.behindMs(projectId, "texts") : 0;
  return { projectId, behindMs, ...page };
}

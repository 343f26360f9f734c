import {
  type FilterText,
  filteredScope,
  readFilter,
  validFilter,
} from "../../content/scopes/filter.ts";
import type { ScopeResolver } from "../../content/scopes/resolver.ts";
import {
  begin,
  otherQuestion,
  type QuestionCall,
  selfPathOf,
} from "../../content/scopes/target.ts";
import { LOOKUP_LIMIT_MAX } from "../../domain/limits.ts";
import { invalid } from "../../domain/problem/problem.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LookupRequest, LookupWork } from "../../engine/requests/request.ts";
import type { RequestDetail } from "../../http/request-record.ts";
import type { Metrics } from "../../ops/observability/metrics.ts";
import { askedQuestion } from "../../ops/observability/question-counts.ts";
import { traced } from "../../ops/observability/tracing.ts";
import { pageResponse, type StoredCursors } from "../stored-cursors.ts";
import type { LookupQuestion, LookupState } from "./question.ts";
import { LookupBody } from "./schema.ts";

interface LookupServices {
  readonly scopes: ScopeResolver;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly cursors: StoredCursors<typeof LookupState>;
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
function requireSame(question: LookupQuestion, body: LookupBody): void {
  const same =
    (body.query === undefined || queryOf(body) === question.query) &&
    (body.filter === undefined || filterOf(body) === (question.filter ?? null)) &&
    (body.limit === undefined || body.limit === question.limit) &&
    (body.shard_index === undefined || body.shard_index === question.shardIndex) &&
    (body.shard_count === undefined || body.shard_count === question.shardCount);
  if (!same) throw otherQuestion();
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
export async function lookUp(
  services: LookupServices,
  call: QuestionCall<LookupBody>,
): Promise<Response> {
  const { cursors, engine } = services;
  const { body, principal } = call;
  const { question, known, scope } = await begin(services, call, {
    cursor: body.cursor,
    target: body.lookup_target,
    first: (projectId) => firstQuestion(projectId, body),
    requireSame: (asked) => requireSame(asked, body),
  });
  const { projectId } = scope;
  const { query, filter = null, limit, shardIndex, shardCount } = question;
  const next = cursors.newCursor();
  const request: LookupRequest = {
    kind: "lookup",
    scope: filteredScope(scope, filter),
    selfPath: selfPathOf(call),
    query,
    limit,
    shardIndex,
    shardCount,
    progress: known?.progress ?? "",
    next,
  };
  const run = () => answer(services, request);
  const { json, work } = await traced("lookup", run, (found) => describe(found.work));
  // The number of matches in one shard or page does not decide whether a question has hits.
  const matches = known === null && shardCount === 1 ? work.total : null;
  call.note(() => describe(work), askedQuestion(projectId, query, matches));
  const state = { question, progress: work.progress };
  const page = work.more
    ? await cursors.keep(json, next, state, principal.userId)
    : { json, hasAllCursors: true };
  const behindMs = work.total === 0 ? await engine.behindMs(projectId, "texts") : 0;
  return pageResponse(page, { projectId, behindMs, body, fields: LookupBody.properties });
}

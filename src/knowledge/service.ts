import type { LookupResult } from "../../workers/protocol.ts";
import type { Principal } from "../auth/principal.ts";
import type { RequestDetail } from "../http/request-record.ts";
import { traced } from "../observability/tracing.ts";
import { invalid, Problem } from "../problem/problem.ts";
import type { ScopeReference, ScopeResolver } from "../scopes/resolver.ts";
import { type Scope, ScopeNotFound } from "../scopes/scope.ts";
import { LOOKUP_LIMIT_MAX } from "../shared/limits.ts";
import type { LookupCursors, LookupProgress, LookupQuestion, LookupState } from "./cursor.ts";
import type { KnowledgeEngine } from "./engine.ts";
import type { LookupBody, LookupPage, LookupTarget } from "./schema.ts";

interface LookupServices {
  readonly scopes: ScopeResolver;
  readonly knowledge: KnowledgeEngine;
  readonly cursors: LookupCursors;
}

interface LookupCall {
  readonly principal: Principal;
  readonly reference: string;
  readonly body: LookupBody;
  /** The request's path, for `page_info.self`. */
  readonly self: string;
  note(detail: () => RequestDetail): void;
}

/** What the log of slow requests and a span say about a lookup. */
function describe({ took, total, shardItems }: LookupResult): RequestDetail {
  return { lookupMs: Number(took.toFixed(3)), matches: total, items: shardItems };
}

const START: LookupProgress = { returned: [], after: null };

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

function firstQuestion(projectId: string, body: LookupBody): LookupQuestion {
  const shardIndex = body.shard_index ?? 0;
  const shardCount = body.shard_count ?? 1;
  checkShard(shardIndex, shardCount);
  return {
    projectId,
    target: body.lookup_target ?? null,
    query: queryOf(body),
    limit: body.limit ?? LOOKUP_LIMIT_MAX,
    shardIndex,
    shardCount,
  };
}

const otherQuery = () =>
  new Problem("invalid-cursor", { detail: "The cursor belongs to another query." });

/** Parameters that are sent with a cursor must be those of its question. */
function checkSame(question: LookupQuestion, body: LookupBody): void {
  const same =
    (body.query === undefined || queryOf(body) === question.query) &&
    (body.limit === undefined || body.limit === question.limit) &&
    (body.shard_index === undefined || body.shard_index === question.shardIndex) &&
    (body.shard_count === undefined || body.shard_count === question.shardCount);
  if (!same) throw otherQuery();
}

/**
 * A target that is sent with a cursor must be that of its question, or name the scope that a question
 * without one has by default.
 */
async function checkSameTarget(
  { scopes }: LookupServices,
  { principal, reference: project, body: { lookup_target: given } }: LookupCall,
  asked: LookupTarget | null,
  scope: Scope,
): Promise<void> {
  if (given === undefined || JSON.stringify(given) === JSON.stringify(asked)) return;
  if (asked !== null) throw otherQuery();
  try {
    const named = await scopes.resolve(principal, referenceOf(project, given));
    if (named.id === scope.id) return;
  } catch (error) {
    if (!(error instanceof ScopeNotFound)) throw error;
  }
  throw otherQuery();
}

async function stateOf(
  cursors: LookupCursors,
  projectId: string,
  body: LookupBody,
): Promise<LookupState> {
  if (body.cursor === undefined) {
    return { question: firstQuestion(projectId, body), progress: START };
  }
  const state = await cursors.load(body.cursor, projectId);
  checkSame(state.question, body);
  return state;
}

/**
 * What the next page must know. Ranks can change between pages, so a search keeps what it has
 * returned: no item is repeated, and none that still matches is skipped. Browsing has a fixed order
 * and needs only the last path.
 */
function progressAfter({ question, progress }: LookupState, result: LookupResult): LookupProgress {
  if (question.query === null) {
    return { returned: [], after: result.last ?? progress.after };
  }
  return { returned: [...progress.returned, ...result.hashes], after: null };
}

/** The scope that a target names; without a target, the project's default. */
function referenceOf(project: string, target: LookupTarget | null): ScopeReference {
  if (target === null) return { project, kind: "default" };
  return "release" in target
    ? { project, kind: "release", name: target.release }
    : { project, kind: "environment", name: target.environment };
}

/** A `LookupPage` in JSON. The items are JSON already. */
function pageJson(
  { query, shardIndex, shardCount }: LookupQuestion,
  result: LookupResult,
  pageInfo: LookupPage["page_info"],
): string {
  const head: Pick<LookupPage, "query" | "mode"> = {
    query: query ?? "",
    mode: query === null ? "browse" : "search",
  };
  const tail: Omit<LookupPage, "query" | "mode" | "data"> = {
    page_info: pageInfo,
    returned: result.count,
    total_matches: result.total,
    shard: { shard_index: shardIndex, shard_count: shardCount, total_items: result.shardItems },
  };
  return `${JSON.stringify(head).slice(0, -1)},"data":${result.json},${JSON.stringify(tail).slice(1)}`;
}

interface FoundPage {
  readonly projectId: string;
  /** A `LookupPage`. */
  readonly json: string;
}

/**
 * One page of a project's knowledge. Throws `project-not-found`,
 * `environment-not-found`, `release-not-found`, `invalid-cursor`, or a 400 about the body.
 */
export async function lookUp(services: LookupServices, call: LookupCall): Promise<FoundPage> {
  const { scopes, knowledge, cursors } = services;
  const { principal, reference: project } = call;
  // Errors are reported in this order: missing project, invalid body, missing scope. One query finds
  // both project and scope, unless the cursor belongs to another scope.
  const target = call.body.lookup_target ?? null;
  const projectId = await scopes.projectOf(principal, referenceOf(project, target));
  const state = await stateOf(cursors, projectId, call.body);
  const { question, progress } = state;
  const scope = await scopes.resolve(principal, referenceOf(project, question.target));
  if (call.body.cursor !== undefined) {
    await checkSameTarget(services, call, question.target, scope);
  }
  const { query, limit, shardIndex, shardCount } = question;
  const request = { query, limit, shardIndex, shardCount, ...progress };
  const work = () => knowledge.lookup(principal.userId, scope, request);
  const result = await traced("lookup", work, describe);
  call.note(() => describe(result));
  const next = result.more
    ? await cursors.save({ question, progress: progressAfter(state, result) })
    : null;
  const json = pageJson(question, result, { self: call.self, first: null, next, prev: null });
  return { projectId, json };
}

import pLimit from "p-limit";
import {
  parseSearchBody,
  type RecallSample,
  type SearchBody,
  type SearchFaults,
} from "../../../native/index.ts";
import type { Given } from "../../../native/retrieval.ts";
import type { Sql } from "../../db/client.ts";
import { isUnavailable } from "../../db/errors.ts";
import {
  DEPENDENCY_RETRY_AFTER_SECONDS,
  SEARCH_LOAD_TIMEOUT_MS,
  VECTOR_APPLIED_POLL_MS,
} from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { baseOf, type Scope, type ScopeRef } from "../../domain/scope.ts";
import type { ChangeLog } from "../../index/changes/change-log.ts";
import { FairSemaphore } from "../../ops/tenants/fair-semaphore.ts";
import type {
  Reply,
  RetrieveRequest,
  SearchRequest,
  SearchWork,
  VectorOptions,
} from "../requests/request.ts";
import { readContents, readState, type ScopeContents, Thresholds } from "./catalogue.ts";
import type { FilterMembers } from "./filter-members.ts";
import { countMatches, type FoundChunk, findChunks, renderAnswer } from "./found-chunks.ts";
import {
  candidatesFor,
  planFor,
  VECTOR_RETRIEVED_MAX,
  VECTOR_RETRIEVED_OFTEN,
  type VectorPlan,
} from "./search-statement.ts";

/** Maximum concurrent searches. Tenants share these places. */
const VECTOR_SEARCHES_MAX = 256;
/** Maximum concurrent searches of a node with effort=exact or for late pages of retrievals. */
const VECTOR_EXACT_AT_ONCE = 2;

/** A worker of Citus lost its connection, or a table was dropped with its project. */
const REPEATED_ONCE: ReadonlySet<unknown> = new Set(["08006", "42P01"]);
const STATEMENT_TIMEOUT = "57014";

/**
 * Minimum number of chunks that a retrieval finds, and the factor by which it finds more when they do not fill its
 * page.
 */
const RETRIEVED_MIN = 50;
const RETRIEVED_GROWTH = 5;
/** The characters that the progress of a retrieval has for each returned hit. */
const RETURNED_CHARS = 11;

type Searched = Pick<SearchRequest, "scope" | "exact">;

interface Found {
  /** At most the wanted number, which reach the threshold. */
  readonly hits: readonly FoundChunk[];
  /** The chunks that reach the threshold: all that do after an exact search, else those that were scored. */
  readonly matches: number;
  readonly plan: VectorPlan | "empty";
  readonly contents: ScopeContents | undefined;
}

const unavailable = (detail: string, cause?: unknown) =>
  new Problem("dependency-unavailable", {
    detail,
    cause,
    headers: { "retry-after": String(DEPENDENCY_RETRY_AFTER_SECONDS) },
  });

function codeOfError(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

/** True if a search by this plan counts every chunk that reaches the threshold. */
const countsAll = (plan: Found["plan"]) => plan === "exact" || plan === "empty";

/** The problem for a failure of the engine's database. */
function problemOf(error: unknown): unknown {
  const isLate = codeOfError(error) === STATEMENT_TIMEOUT;
  if (!isLate && !isUnavailable(error)) return error;
  return unavailable("The vector database does not answer.", error);
}

/** The contents of a scope with the chunks that a filter leaves of it. */
function withMembers(
  whole: ScopeContents | undefined,
  { chunks }: FilterMembers,
): ScopeContents | undefined {
  return whole && { ...whole, chunks: Math.min(whole.chunks, chunks) };
}

/** The search of a request, or the faults of its JSON body. */
function searchOf({ body, vector: options }: SearchRequest): SearchBody | SearchFaults {
  if (options === undefined) return parseSearchBody(body);
  return { ...options, vector: new Float32Array(body.slice().buffer), ignored: [] };
}

/** Searches vectors in tables of pgvector, which Citus may distribute. */
export class PgvectorSearch {
  readonly #permits = new FairSemaphore({ permits: VECTOR_SEARCHES_MAX });
  readonly #exact = pLimit(VECTOR_EXACT_AT_ONCE);
  readonly #thresholds = new Thresholds();

  /**
   * @param sql the database of the vectors
   * @param changes the change log of the platform's database
   * @param members reads the chunks of a scope that match its filter and have a dimension
   */
  constructor(
    private readonly sql: Sql,
    private readonly changes: ChangeLog,
    private readonly members: (scope: Scope, dimension: number) => Promise<FilterMembers>,
    /** Called with every search before it runs. */
    private readonly offer: (request: SearchRequest) => void = () => {},
  ) {}

  /** Searches that have not been answered. */
  get running(): number {
    return this.#permits.acquired;
  }

  search(request: SearchRequest): Reply<"search"> | Promise<Reply<"search">> {
    const { scope, exact } = request;
    const startedAt = performance.now();
    const asked = searchOf(request);
    const parseMs = performance.now() - startedAt;
    if (!("limit" in asked)) return { status: "invalid", faults: asked };
    this.offer(request);
    const work = () => this.#answer(request, asked, parseMs);
    return this.#admitted(scope, exact ? () => this.#exact(work) : work);
  }

  /** Repeats a search as it ran and exactly, concurrently with all others; null when the scope is empty. */
  async recallOf(request: SearchRequest): Promise<RecallSample | null> {
    const { scope } = request;
    const asked = searchOf(request);
    if (!("limit" in asked)) return null;
    const { vector, dimension } = asked;
    const found = await this.#find({ scope, exact: false }, asked, vector);
    const best = await this.#exact(() => this.#find({ scope, exact: true }, asked, vector));
    const ids = new Set(found.hits.map(({ id }) => id));
    return {
      dimension,
      wanted: best.hits.length,
      found: best.hits.filter(({ id }) => ids.has(id)).length,
      best: best.hits[0]?.score ?? 0,
    };
  }

  /**
   * Runs a retrieval with the hits of a vector search, best first. Repeats it with more hits if they did not fill the
   * page. Throws problems, or rejects with them.
   */
  async retrieve(
    { scope, vector, threshold, limit, progress, mode, facets }: RetrieveRequest,
    run: (hits: Given["hits"]) => Promise<Reply<"retrieve">>,
  ): Promise<Reply<"retrieve">> {
    if (vector === null || mode === "keyword") return await run(null);
    // The progress lists every hit of earlier pages.
    const least = facets !== null ? VECTOR_RETRIEVED_OFTEN : RETRIEVED_MIN;
    const wanted = Math.max(least, limit + 1 + progress.length / RETURNED_CHARS);
    for (let most = Math.ceil(wanted); ; most *= RETRIEVED_GROWTH) {
      const options = {
        dimension: vector.length,
        limit: Math.min(VECTOR_RETRIEVED_MAX, most),
        threshold,
      };
      const reply = await run(await this.#hits(scope, options, vector));
      const isShort = reply.status === "answered" && reply.work.lacksHits;
      if (!isShort || most >= VECTOR_RETRIEVED_MAX) return reply;
    }
  }

  async #hits(scope: Scope, options: VectorOptions, vector: Float32Array): Promise<Given["hits"]> {
    const find = () => this.#findOrRepeat({ scope, exact: false }, options, vector);
    const isDeep = options.limit > VECTOR_RETRIEVED_OFTEN;
    const work = isDeep ? () => this.#exact(find) : find;
    const { hits, matches, plan } = await this.#admitted(scope, work);
    return {
      chunks: hits.flatMap(({ rendered, vector: own }) => [rendered, own]),
      cosines: Float64Array.from(hits, ({ score }) => score),
      matches,
      areAll: hits.length < options.limit,
      countsAll: countsAll(plan),
    };
  }

  #admitted<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
    return this.#permits.run(scope.tenant, work);
  }

  async #answer(
    request: SearchRequest,
    asked: SearchBody,
    parseMs: number,
  ): Promise<Reply<"search">> {
    const startedAt = performance.now();
    const { vector, limit, ignored } = asked;
    const found = await this.#findOrRepeat(request, asked, vector);
    const { hits, matches, plan, contents } = found;
    const searchMs = performance.now() - startedAt;
    const json = renderAnswer(hits, matches, request.selfPath, searchMs);
    const renderMs = performance.now() - startedAt - searchMs;
    const chunks = contents?.chunks ?? 0;
    const work: SearchWork = {
      plan,
      ignored,
      waitMs: 0,
      parseMs,
      searchMs,
      renderMs,
      rescoreMs: 0,
      tookMs: searchMs + renderMs,
      countsAll: countsAll(plan),
      scopeVectors: chunks,
      estimates: plan === "scan" ? chunks : 0,
      comparisons:
        plan === "exact"
          ? chunks
          : Math.min(chunks, candidatesFor(limit, contents?.candidates ?? null)),
    };
    return { status: "answered", json, work };
  }

  #findOrRepeat(search: Searched, options: VectorOptions, vector: Float32Array): Promise<Found> {
    const attempt = () => this.#find(search, options, vector);
    return attempt()
      .catch((error: unknown) => {
        if (REPEATED_ONCE.has(codeOfError(error))) return attempt();
        throw error;
      })
      .catch((error: unknown) => {
        throw problemOf(error);
      });
  }

  async #find(
    { scope, exact }: Searched,
    { dimension, limit, threshold }: VectorOptions,
    vector: Float32Array,
  ): Promise<Found> {
    const { sql } = this;
    const whole = await this.#contents(baseOf(scope), scope.projectId, dimension);
    const members =
      scope.filter === undefined || whole === undefined
        ? undefined
        : await this.members(scope, dimension);
    const contents = members === undefined ? whole : withMembers(whole, members);
    if (contents === undefined || contents.chunks === 0) {
      return { hits: [], matches: 0, plan: "empty", contents };
    }
    const search = { scope, contents, vector, members };
    const find = async (plan: VectorPlan) => {
      const [scored, counted] = await Promise.all([
        findChunks(sql, { ...search, plan, limit }),
        plan === "exact" ? countMatches(sql, search, threshold) : undefined,
      ]);
      const passing = scored.filter(({ score }) => score >= threshold);
      const hits = passing.slice(0, limit);
      return { hits, scored: scored.length, matches: counted ?? passing.length, plan, contents };
    };
    const found = await find(exact ? "exact" : planFor(contents, limit));
    // The scan of the graph ends after VECTOR_GRAPH_SCAN_TUPLES chunks, even if most belong to other scopes.
    const isShort = found.plan === "graph" && found.scored < Math.min(limit, contents.chunks);
    return isShort ? await find("scan") : found;
  }

  /**
   * The contents of a scope. An empty or unknown scope may just have been filled, so this waits until its changes
   * up to now are applied. Undefined when the scope never had any.
   */
  async #contents(
    { id }: ScopeRef,
    projectId: string,
    dimension: number,
  ): Promise<ScopeContents | undefined> {
    const { sql, changes } = this;
    const read = () => readContents(sql, this.#thresholds, { projectId, id }, dimension);
    const known = await read();
    if (known !== undefined && known.chunks > 0) return known;
    const { seq: wanted } = await changes.newest({ projects: [projectId], ref: id });
    const deadline = performance.now() + SEARCH_LOAD_TIMEOUT_MS;
    while (performance.now() < deadline) {
      // The state is read before the contents, so that the contents are at least as new.
      const state = await readState(sql);
      const contents = await read();
      const isFilled = contents !== undefined && contents.chunks > 0;
      if (isFilled || (state.complete && state.seq >= wanted)) return contents;
      await Bun.sleep(VECTOR_APPLIED_POLL_MS);
    }
    throw unavailable("The project's vectors are still being stored.");
  }
}

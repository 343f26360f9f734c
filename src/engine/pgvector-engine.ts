import pLimit from "p-limit";
import type { SearchFound, VectorOptions } from "../../workers/protocol.ts";
import type { Sql } from "../db/client.ts";
import { isUnavailable } from "../db/errors.ts";
import { OVERLOADED, Problem } from "../problem/problem.ts";
import { FairPlaces } from "../shared/fair-places.ts";
import {
  DEPENDENCY_RETRY_AFTER_SECONDS,
  SEARCH_LOAD_TIMEOUT_MS,
  SEARCH_PLACES_MAX,
  VECTOR_APPLIED_POLL_MS,
  VECTOR_EXACT_AT_ONCE,
  VECTOR_SEARCHES_MAX,
} from "../shared/limits.ts";
import type { ChangeLog } from "./indexing/changes/change-log.ts";
import type { Indexer } from "./indexing/indexer.ts";
import { renderAnswer } from "./pgvector/answer.ts";
import { Centres, readContents, readState, type ScopeContents } from "./pgvector/catalogue.ts";
import { countMatches, type FoundChunk, findChunks } from "./pgvector/found-chunks.ts";
import type { Feeder } from "./pgvector/replicator/feeder.ts";
import { candidatesFor, planFor, type VectorPlan } from "./pgvector/search-statement.ts";
import type { Scope } from "./requests/scope.ts";
import type {
  EngineState,
  SearchAnswer,
  SearchEngine,
  SearchQuery,
} from "./requests/search-engine.ts";
import type { SearchPool } from "./requests/search-pool.ts";

/** A worker of Citus lost its connection, or a table was dropped while its project was rebuilt. */
const REPEATED_ONCE: ReadonlySet<unknown> = new Set(["08006", "42P01"]);
const STATEMENT_TIMEOUT = "57014";

/** What the engine works with; it closes all of it. */
interface EngineParts {
  /** The engine's database. */
  readonly sql: Sql;
  /** The change log of the platform's database. */
  readonly changes: ChangeLog;
  readonly feeder: Feeder;
  /** Indexes and searches texts. */
  readonly indexer: Indexer;
  readonly pool: SearchPool;
}

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

/** The problem for a failure of the engine's database. */
function problemOf(error: unknown): unknown {
  const isLate = codeOfError(error) === STATEMENT_TIMEOUT;
  if (!isLate && !isUnavailable(error)) return error;
  return unavailable("The vector database does not answer.", error);
}

/** The engine in PostgreSQL: vectors in tables of pgvector, which Citus may distribute. */
export class PgvectorEngine implements SearchEngine {
  readonly #admitted = new FairPlaces(SEARCH_PLACES_MAX);
  readonly #searching = new FairPlaces(VECTOR_SEARCHES_MAX);
  readonly #exact = pLimit(VECTOR_EXACT_AT_ONCE);
  readonly #centres = new Centres();
  #queued = 0;

  constructor(private readonly parts: EngineParts) {}

  get gate(): SearchPool {
    return this.parts.pool;
  }

  admit(tenant: string): void {
    if (!this.#admitted.take(tenant)) throw OVERLOADED;
  }

  release(tenant: string): void {
    this.#admitted.release(tenant);
  }

  search(query: SearchQuery): SearchAnswer | Promise<SearchAnswer> {
    const { vector: options, body, tenant } = query;
    if (options === undefined) return { kind: "needs-full-parse", body };
    if (!this.#searching.take(tenant)) throw OVERLOADED;
    this.#queued++;
    const vector = new Float32Array(body.slice().buffer);
    const work = () => this.#answer(query, options, vector);
    return (query.exact ? this.#exact(work) : work()).finally(() => {
      this.#queued--;
      this.#searching.release(tenant);
    });
  }

  state(): EngineState {
    const { indexer, feeder } = this.parts;
    const [texts, vectors] = [indexer.report, feeder.report];
    return {
      ...vectors,
      behind: texts.behind ?? vectors.behind,
      lag: Math.max(texts.lag, vectors.lag),
      projects: texts.projects,
      bytes: texts.bytes,
      complete: texts.complete && vectors.complete,
      queued: this.#queued,
      pendingLoads: indexer.pendingLoads,
      recall: null,
    };
  }

  async close(): Promise<void> {
    const { feeder, indexer, pool, sql } = this.parts;
    await Promise.all([pool.close(), indexer.close(), feeder.close()]);
    await sql.end({ timeout: 1 });
  }

  async #answer(
    query: SearchQuery,
    options: VectorOptions,
    vector: Float32Array,
  ): Promise<SearchAnswer> {
    const startedAt = performance.now();
    const attempt = () => this.#find(query, options, vector);
    const { hits, matches, plan, contents } = await attempt()
      .catch((error: unknown) => {
        if (REPEATED_ONCE.has(codeOfError(error))) return attempt();
        throw error;
      })
      .catch((error: unknown) => {
        throw problemOf(error);
      });
    const searchMs = performance.now() - startedAt;
    const json = renderAnswer(hits, matches, query.selfPath, searchMs);
    const renderMs = performance.now() - startedAt - searchMs;
    const chunks = contents?.chunks ?? 0;
    const found: SearchFound = {
      ...{ json, plan, ignored: "", waitMs: 0, parseMs: 0, searchMs, renderMs, rescoreMs: 0 },
      countsAll: plan === "exact" || plan === "empty",
      scopeVectors: chunks,
      estimates: plan === "scan" ? chunks : 0,
      comparisons: plan === "exact" ? chunks : Math.min(chunks, candidatesFor(options.limit)),
    };
    return { kind: "found", ...found };
  }

  async #find(
    { scope, exact }: SearchQuery,
    { dimension, limit, threshold }: VectorOptions,
    vector: Float32Array,
  ): Promise<Found> {
    const { sql } = this.parts;
    const contents = await this.#contents(scope, dimension);
    if (contents === undefined || contents.chunks === 0) {
      return { hits: [], matches: 0, plan: "empty", contents };
    }
    const search = { scope, contents, vector };
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
    // The graph ends its scan after so many chunks of other scopes.
    const isShort = found.plan === "graph" && found.scored < Math.min(limit, contents.chunks);
    return isShort ? await find("scan") : found;
  }

  /**
   * The contents of a scope. One that is empty or unknown may just have been filled: then its changes
   * until now are waited for. Undefined when it never had any.
   */
  async #contents(scope: Scope, dimension: number): Promise<ScopeContents | undefined> {
    const { sql, changes } = this.parts;
    const read = () => readContents(sql, this.#centres, scope, dimension);
    const known = await read();
    if (known !== undefined && known.chunks > 0) return known;
    const wanted = await changes.newestOf(scope.projectId, scope.id);
    const deadline = performance.now() + SEARCH_LOAD_TIMEOUT_MS;
    while (performance.now() < deadline) {
      // Read before the contents, which then are at least as new.
      const state = await readState(sql);
      const contents = await read();
      const isFilled = contents !== undefined && contents.chunks > 0;
      if (isFilled || (state.complete && state.seq >= wanted)) return contents;
      await Bun.sleep(VECTOR_APPLIED_POLL_MS);
    }
    throw unavailable("The project's vectors are still being stored.");
  }
}

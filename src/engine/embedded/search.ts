import type { SearchReply, SearchRequest } from "../../../workers/protocol.ts";
import { OVERLOADED } from "../../problem/problem.ts";
import { FairPlaces } from "../../shared/fair-places.ts";
import { SEARCH_PLACES_MAX } from "../../shared/limits.ts";
import type { Indexer } from "../indexing/indexer.ts";
import type {
  EngineState,
  SearchAnswer,
  SearchEngine,
  SearchQuery,
} from "../requests/search-engine.ts";
import type { SearchPool } from "../requests/search-pool.ts";
import { whenLoaded } from "../requests/when-loaded.ts";
import type { RecallMonitor } from "./recall-monitor.ts";

function requestOf(query: SearchQuery, projectName: string): SearchRequest {
  const { scope, selfPath, body, vector, exact } = query;
  // The whole buffer is transferred, so it must hold nothing but the body.
  const whole = body.byteLength === body.buffer.byteLength ? body.buffer : body.slice().buffer;
  const request = { project: projectName, scopeId: scope.id, selfPath, body: whole, exact };
  return vector === undefined ? request : { ...request, vector };
}

/** The engine inside this process: native memory, an indexing thread and search workers. */
export class EmbeddedEngine implements SearchEngine {
  readonly #places: FairPlaces;

  constructor(
    private readonly pool: SearchPool,
    private readonly indexer: Indexer,
    private readonly recall: RecallMonitor,
    places = SEARCH_PLACES_MAX,
  ) {
    this.#places = new FairPlaces(places);
  }

  get gate(): SearchPool {
    return this.pool;
  }

  admit(tenant: string): void {
    if (!this.#places.take(tenant)) throw OVERLOADED;
  }

  release(tenant: string): void {
    this.#places.release(tenant);
  }

  search(query: SearchQuery): SearchAnswer | Promise<SearchAnswer> {
    const { projectId } = query.scope;
    this.indexer.used(projectId);
    const request = requestOf(query, this.indexer.nativeName(projectId));
    if (!query.exact) this.recall.offer(projectId, request);
    if (!this.indexer.isLoaded(projectId)) return this.#searchLoaded(query, request);
    const reply = this.pool.search(query.tenant, request);
    if (reply instanceof Promise) return reply.then((later) => this.#answer(query, request, later));
    return this.#answer(query, request, reply);
  }

  state(): EngineState {
    const { report, pendingLoads } = this.indexer;
    return { ...report, pendingLoads, queued: this.pool.queued, recall: this.recall.recall };
  }

  async close(): Promise<void> {
    this.recall.close();
    await Promise.all([this.pool.close(), this.indexer.close()]);
  }

  #answer(
    query: SearchQuery,
    request: SearchRequest,
    reply: SearchReply,
  ): SearchAnswer | Promise<SearchAnswer> {
    if ("json" in reply) return { kind: "found", ...reply };
    if (reply.reason === "failed") throw new Error(`a search failed: ${reply.message}`);
    const body = new Uint8Array(reply.body);
    if (reply.reason === "needs-full-parse") return { kind: "needs-full-parse", body };
    return this.#searchLoaded(query, { ...request, body: reply.body });
  }

  /** Waits until the scope is in memory, then searches it. */
  #searchLoaded(query: SearchQuery, request: SearchRequest): Promise<SearchAnswer> {
    let attempt = request;
    return whenLoaded(this.indexer, query.scope, async () => {
      // Each load of the project has another name.
      attempt = { ...attempt, project: this.indexer.nativeName(query.scope.projectId) };
      const reply = await this.pool.search(query.tenant, attempt);
      if ("json" in reply || reply.reason !== "not-loaded") {
        return await this.#answer(query, attempt, reply);
      }
      // The body was transferred to the worker and has come back for another attempt.
      attempt = { ...attempt, body: reply.body };
      return undefined;
    });
  }
}

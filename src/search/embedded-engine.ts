import type { SearchReply, SearchRequest } from "../../workers/protocol.ts";
import type { Indexer } from "../indexing/indexer.ts";
import { Problem } from "../problem/problem.ts";
import { whenLoaded } from "../scopes/when-loaded.ts";
import { SEARCH_QUEUE_MAX } from "../shared/limits.ts";
import type { EngineState, SearchAnswer, SearchEngine, SearchQuery } from "./engine.ts";
import type { SearchPool } from "./pool.ts";

/** Told of every search that was refused for lack of room. */
export type OnOverload = () => void;

function requestOf(query: SearchQuery, projectName: string): SearchRequest {
  const { scope, selfPath, body, vector } = query;
  // A transferred buffer takes everything in it along, so it must hold the body and nothing else.
  const whole = body.byteLength === body.buffer.byteLength ? body.buffer : body.slice().buffer;
  const request = { project: projectName, scopeId: scope.id, selfPath, body: whole };
  return vector === undefined ? request : { ...request, vector };
}

/** The engine inside this process: native memory, an indexing thread, and a pool of searchers. */
export class EmbeddedEngine implements SearchEngine {
  #open = 0;

  constructor(
    private readonly pool: SearchPool,
    private readonly indexer: Indexer,
    private readonly onOverload: OnOverload,
    private readonly maxOpen = SEARCH_QUEUE_MAX,
  ) {}

  admit(): void {
    if (this.#open >= this.maxOpen) {
      this.onOverload();
      throw new Problem("overloaded");
    }
    this.#open++;
  }

  release(): void {
    this.#open--;
  }

  search(query: SearchQuery): SearchAnswer | Promise<SearchAnswer> {
    const { projectId } = query.scope;
    this.indexer.used(projectId);
    const request = requestOf(query, this.indexer.nativeName(projectId));
    if (!this.indexer.isLoaded(projectId)) return this.#searchLoaded(query, request);
    const reply = this.pool.search(request);
    if (reply instanceof Promise) return reply.then((later) => this.#answer(query, request, later));
    return this.#answer(query, request, reply);
  }

  state(): EngineState {
    const { behind, lag, vectors, bytes } = this.indexer.report;
    return { behind, lag, vectors, bytes, queued: this.pool.queued };
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.indexer.close()]);
  }

  #answer(
    query: SearchQuery,
    request: SearchRequest,
    reply: SearchReply,
  ): SearchAnswer | Promise<SearchAnswer> {
    if (reply instanceof Uint8Array) return { kind: "found", json: reply };
    if (reply.reason === "failed") throw new Error(`a search failed: ${reply.message}`);
    const body = new Uint8Array(reply.body);
    if (reply.reason === "unusual") return { kind: "unusual", body };
    return this.#searchLoaded(query, { ...request, body: reply.body });
  }

  /** Waits until the scope is in memory, then searches it. */
  #searchLoaded(query: SearchQuery, request: SearchRequest): Promise<SearchAnswer> {
    let attempt = request;
    return whenLoaded(this.indexer, query.scope, async () => {
      const reply = await this.pool.search(attempt);
      if (reply instanceof Uint8Array || reply.reason !== "not-resident") {
        return await this.#answer(query, attempt, reply);
      }
      // The body was transferred, and comes back for another attempt.
      attempt = { ...attempt, body: reply.body };
      return undefined;
    });
  }
}

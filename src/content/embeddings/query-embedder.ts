import type { Sql } from "../../db/client.ts";
import { isOutage } from "../../db/errors.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import {
  EmbedderAway,
  embedderName,
  type ProjectEmbedder,
  type ProjectEmbedders,
  TextsRefused,
} from "../../embed/embedders/project-embedders.ts";
import { FairSemaphore } from "../../ops/tenants/fair-semaphore.ts";
import { TtlCache } from "../../ops/ttl-cache.ts";
import { fingerprintOf } from "./store.ts";

/** A retrieval waits this long for its query to be embedded. */
const QUERY_EMBED_TIMEOUT_MS = 4_000;
/** Maximum concurrent queries of an embedder, and of one user among them. */
const QUERY_EMBED_CONCURRENCY = 16;
const QUERY_EMBED_USER_CONCURRENCY = 4;
/** Embedded queries that are kept, of a project and of all. */
const QUERY_CACHE_PROJECT_ENTRIES = 64;
const QUERY_CACHE_ENTRIES = 1_024;

/** Embeds queries by the embedders of their projects. */
export class QueryEmbedder {
  /** The fingerprints of projects. */
  readonly #projects: TtlCache<string | null>;
  /** By embedder. Users share its permits, so that nobody has all of them. */
  readonly #permits = new Map<string, FairSemaphore>();
  /** By project, the least recently used first; in each by fingerprint and text, the oldest first. */
  readonly #cache = new Map<string, Map<string, Float32Array>>();
  #cached = 0;

  constructor(
    private readonly sql: Sql,
    readonly embedders: ProjectEmbedders,
  ) {
    this.#projects = new TtlCache({ isOutage });
  }

  /** The fingerprint of a project's embedder; null without one. A fresh one is of this moment. */
  async fingerprint(projectId: string, readYourWrites = false): Promise<string | null> {
    if (readYourWrites) return await fingerprintOf(this.sql, projectId);
    return await this.#projects.get(projectId, () => fingerprintOf(this.sql, projectId));
  }

  /** Projects may have got other embedders. */
  clear(): void {
    this.#projects.clear();
  }

  expire(): void {
    this.#projects.expire();
  }

  /**
   * Embeds a query. Throws EmbedderAway when the embedder is not configured, or does not answer in time,
   * and `embedder-mismatch` when the chunks were embedded by another model than it has now.
   */
  async embed(
    { id, fingerprint, user }: { id: string; fingerprint: string; user: string },
    query: string,
  ): Promise<Float32Array<ArrayBuffer>> {
    const name = embedderName(fingerprint);
    const embedder = this.embedders.get(name);
    if (embedder === undefined) throw new EmbedderAway(name, "is not configured");
    if (embedder.fingerprint !== fingerprint) {
      throw new Problem("embedder-mismatch", {
        detail:
          `The project's chunks were embedded by ${fingerprint}, and a query would be by ` +
          `${embedder.fingerprint}: run \`tessera embeddings rebuild\`.`,
      });
    }
    const key = `${fingerprint}\n${query}`;
    const known = this.#cache.get(id)?.get(key);
    if (known !== undefined) return known as Float32Array<ArrayBuffer>;
    const vector = await this.#embedInTime(embedder, user, query);
    this.#keep(id, key, vector);
    return vector as Float32Array<ArrayBuffer>;
  }

  async #embedInTime(
    embedder: ProjectEmbedder,
    user: string,
    query: string,
  ): Promise<Float32Array> {
    const deadline = performance.now() + QUERY_EMBED_TIMEOUT_MS;
    const tooSlow = new EmbedderAway(embedder.name, "is too slow");
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(tooSlow), QUERY_EMBED_TIMEOUT_MS);
    const embed = async () => {
      const left = deadline - performance.now();
      if (left <= 0) throw tooSlow;
      return await embedder.embedQuery(query, left);
    };
    const embedding = this.#permitsOf(embedder.name).run(user, embed);
    // One that is late has been answered for.
    embedding.catch(() => {});
    try {
      return await Promise.race([embedding, late]);
    } catch (error) {
      if (!(error instanceof TextsRefused)) throw error;
      throw invalid([{ field: "query", message: `${error.message} to it` }]);
    } finally {
      clearTimeout(timer);
    }
  }

  #permitsOf(embedder: string): FairSemaphore {
    const known = this.#permits.get(embedder);
    if (known !== undefined) return known;
    const permits = new FairSemaphore({
      permits: QUERY_EMBED_CONCURRENCY,
      tenantPermits: QUERY_EMBED_USER_CONCURRENCY,
      maxWaiting: Number.POSITIVE_INFINITY,
    });
    this.#permits.set(embedder, permits);
    return permits;
  }

  #keep(project: string, key: string, vector: Float32Array): void {
    const own = this.#cache.get(project) ?? new Map<string, Float32Array>();
    this.#cache.delete(project);
    this.#cache.set(project, own);
    if (!own.has(key)) this.#cached++;
    own.set(key, vector);
    if (own.size > QUERY_CACHE_PROJECT_ENTRIES) {
      own.delete(own.keys().next().value as string);
      this.#cached--;
    }
    while (this.#cached > QUERY_CACHE_ENTRIES) {
      const [oldest, entries] = this.#cache.entries().next().value as [string, Map<string, never>];
      this.#cache.delete(oldest);
      this.#cached -= entries.size;
    }
  }
}

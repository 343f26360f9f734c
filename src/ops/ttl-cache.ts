import {
  AUTH_CACHE_MAX_ENTRIES,
  AUTH_CACHE_REFRESH_MS,
  AUTH_CACHE_TTL_MS,
} from "../domain/limits.ts";

/**
 * While the database does not answer, cached credentials and scopes are used for at most this long
 * after they were last read.
 */
const DB_OUTAGE_GRACE_MS = 60_000;

interface Entry<V> {
  value: V;
  /** The time at which the load began. The TTL counts from it, because the query does not see later changes. */
  readAt: number;
  refreshing: boolean;
  /** False once the value may have changed without a notification. */
  isCurrent: boolean;
}

/** The hits and misses of a cache. The cache counts, others read. */
export interface CacheCounts {
  hits: number;
  misses: number;
}

interface Load<V> {
  readonly value: Promise<V>;
  readonly readAt: number;
}

interface TtlCacheOptions {
  readonly ttlMs?: number;
  /** A hit on an older entry loads it again in the background. */
  readonly refreshMs?: number;
  readonly maxEntries?: number;
  /** True for the errors of loads during which entries are used beyond their TTL. */
  readonly isOutage?: (error: unknown) => boolean;
  /** Maximum age of an entry that is used during an outage. */
  readonly graceMs?: number;
  readonly counts?: CacheCounts;
}

/**
 * Caches the results of queries for less than a second. A hit is synchronous, which keeps the hot
 * path free of promises; a hit on an ageing entry also loads it again in the background. A key that
 * is dropped while it loads is not stored, so no outdated result survives a notification.
 *
 * Only when a load fails because of an outage is an expired entry used, for a limited time.
 */
export class TtlCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Load<V>>();
  #generation = 0;

  readonly #options: Required<TtlCacheOptions>;

  constructor(options: TtlCacheOptions = {}) {
    this.#options = {
      ttlMs: AUTH_CACHE_TTL_MS,
      refreshMs: AUTH_CACHE_REFRESH_MS,
      maxEntries: AUTH_CACHE_MAX_ENTRIES,
      isOutage: () => false,
      graceMs: DB_OUTAGE_GRACE_MS,
      counts: { hits: 0, misses: 0 },
      ...options,
    };
  }

  /** The cached value, or a promise that loads it. Failed loads are not cached. */
  get(key: string, load: () => Promise<V>): V | Promise<V> {
    const entry = this.#entries.get(key);
    const { ttlMs, refreshMs, counts } = this.#options;
    const age = entry === undefined ? 0 : performance.now() - entry.readAt;
    if (entry === undefined || !entry.isCurrent || age > ttlMs) {
      counts.misses++;
      return entry === undefined ? this.#load(key, load) : this.#reload(key, load);
    }
    counts.hits++;
    if (age > refreshMs && !entry.refreshing) {
      entry.refreshing = true;
      this.#load(key, load).catch(() => {
        entry.refreshing = false;
      });
    }
    return entry.value;
  }

  drop(key: string): void {
    this.#generation++;
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  clear(): void {
    this.#generation++;
    this.#entries.clear();
    this.#loading.clear();
  }

  /** Makes every entry load again before its next use. During an outage the old entries are used. */
  expire(): void {
    this.#generation++;
    this.#loading.clear();
    for (const entry of this.#entries.values()) entry.isCurrent = false;
  }

  /** Loads an expired entry again, and falls back on it during an outage. */
  async #reload(key: string, load: () => Promise<V>): Promise<V> {
    const { isOutage, graceMs } = this.#options;
    try {
      return await this.#load(key, load);
    } catch (error) {
      // The entry may have been dropped meanwhile.
      const entry = this.#entries.get(key);
      if (entry === undefined || !isOutage(error)) throw error;
      if (performance.now() - entry.readAt > graceMs) throw error;
      return entry.value;
    }
  }

  #load(key: string, load: () => Promise<V>): Promise<V> {
    const running = this.#loading.get(key);
    const readAt = performance.now();
    // A slow load may have begun before a change that the result of this one has to show.
    if (running !== undefined && readAt - running.readAt <= this.#options.ttlMs) {
      return running.value;
    }
    const generation = this.#generation;
    const value = load()
      .then((value) => {
        if (generation === this.#generation) {
          this.#store(key, { value, readAt, refreshing: false, isCurrent: true });
        }
        return value;
      })
      .finally(() => {
        if (this.#loading.get(key)?.value === value) this.#loading.delete(key);
      });
    this.#loading.set(key, { value, readAt });
    return value;
  }

  #store(key: string, entry: Entry<V>): void {
    const newest = this.#entries.get(key);
    if (newest !== undefined && newest.readAt > entry.readAt) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // Maps keep insertion order, so the first key is the oldest.
    if (this.#entries.size > this.#options.maxEntries) {
      this.#entries.delete(this.#entries.keys().next().value as string);
    }
  }
}

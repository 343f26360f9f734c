import { AUTH_CACHE_MAX_ENTRIES, AUTH_CACHE_REFRESH_MS, AUTH_CACHE_TTL_MS } from "./limits.ts";

interface Entry<V> {
  value: V;
  /** When the load began: the TTL counts from the time that the query could see. */
  readAt: number;
  refreshing: boolean;
}

/**
 * Caches the results of queries for less than a second. A hit is synchronous, which keeps the hot
 * path free of promises; a hit on an ageing entry also loads it again in the background. A key that
 * is dropped while it loads is not stored, so no outdated result survives a notification.
 */
export class TimedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Promise<V>>();
  #generation = 0;

  constructor(
    private readonly ttlMs = AUTH_CACHE_TTL_MS,
    private readonly refreshMs = AUTH_CACHE_REFRESH_MS,
    private readonly maxEntries = AUTH_CACHE_MAX_ENTRIES,
  ) {}

  /** The cached value, or a promise that loads it. Failed loads are not cached. */
  get(key: string, load: () => Promise<V>): V | Promise<V> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#load(key, load);
    const age = performance.now() - entry.readAt;
    if (age > this.ttlMs) return this.#load(key, load);
    if (age > this.refreshMs && !entry.refreshing) {
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

  #load(key: string, load: () => Promise<V>): Promise<V> {
    const running = this.#loading.get(key);
    if (running !== undefined) return running;
    const generation = this.#generation;
    const readAt = performance.now();
    const loading = load().then(
      (value) => {
        if (generation === this.#generation) this.#store(key, { value, readAt, refreshing: false });
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
        return value;
      },
      (error) => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
        throw error;
      },
    );
    this.#loading.set(key, loading);
    return loading;
  }

  #store(key: string, entry: Entry<V>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    // Maps keep insertion order, so the first key is the oldest.
    if (this.#entries.size > this.maxEntries) {
      this.#entries.delete(this.#entries.keys().next().value as string);
    }
  }
}

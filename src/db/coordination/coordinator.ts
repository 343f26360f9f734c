/** The server cannot coordinate. The message names the reason and the remedy, for a person. */
export class CoordinationRefusal extends Error {}

/** A lock with an expiry, which only its holder can renew and release. */
export interface Lease {
  readonly name: string;
  /** Extends the lease; false when it has expired or the server is unavailable. Never throws. */
  renew(ttlMs: number): Promise<boolean>;
  /** Releases the lease if it is still held. Never throws: on an unavailable server it expires. */
  release(): Promise<void>;
}

/** The result of `acquire`: the lease, or the time until its current holder must renew it. */
export type Acquired = { readonly lease: Lease } | { readonly heldForMs: number };

/**
 * The lifetime of a value, and the owner whose space it takes. When that is used up, the owner's oldest are dropped.
 */
interface Lifetime {
  readonly owner: string;
  readonly ttlSeconds: number;
}

/**
 * Leases and short-lived values that requests and processes share. Correctness does not depend on them: they may vanish
 * at any time, and PostgreSQL decides. While the server does not answer or refuses commands, `acquire`, `put`, `get`
 * and `add` throw `dependency-unavailable` without a long wait.
 */
export interface Coordinator {
  /** Takes the named lease for `ttlMs` unless it is held. */
  acquire(name: string, ttlMs: number): Promise<Acquired>;
  /** Stores a short-lived value, such as the state of a cursor. */
  put(key: string, value: string, lifetime: Lifetime): Promise<void>;
  /** The stored value; null if it is missing or has expired. */
  get(key: string): Promise<string | null>;
  /**
   * Adds to counters, which begin at 0 and vanish after `ttlSeconds`, and returns their new values in
   * the order of the map.
   */
  add(amounts: ReadonlyMap<string, number>, ttlSeconds: number): Promise<number[]>;
  /** The fault as a sentence, or null when the coordinator answers and stores. */
  check(): Promise<string | null>;
  close(): Promise<void>;
}

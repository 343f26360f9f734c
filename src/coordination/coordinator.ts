/** A lock that is held for a while and can only be given back by whoever holds it. */
export interface Lease {
  readonly name: string;
  /** Extends the lease; false when it was lost meanwhile or the server is away. Never throws. */
  renew(ttlMs: number): Promise<boolean>;
  /** Gives the lease back if it is still held. Never throws: an unreachable server expires it. */
  release(): Promise<void>;
}

/** What `acquire` found: the lease, or how long its holder may still keep it. */
export type Acquired = { readonly lease: Lease } | { readonly heldForMs: number };

/**
 * Coordination between attempts and between processes. It makes things orderly, never correct:
 * everything kept here may vanish at any instant, and PostgreSQL still decides. While the server
 * is away, `acquire`, `put` and `get` throw `dependency-unavailable`.
 */
export interface Coordinator {
  /** Takes the named lease for `ttlMs` unless somebody holds it. */
  acquire(name: string, ttlMs: number): Promise<Acquired>;
  /** Keeps a short-lived value, e.g. the state behind a cursor. */
  put(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** The kept value, or null when there is none or it has expired. */
  get(key: string): Promise<string | null>;
  /** A sentence about what is wrong, or null when the coordinator answers. */
  check(): Promise<string | null>;
  close(): Promise<void>;
}

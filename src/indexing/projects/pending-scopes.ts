import type { ScopeRef } from "../../engine/requests/scope.ts";

/** A scope that has to be indexed. */
export interface PendingScope {
  readonly scope: ScopeRef;
  /** The oldest log entry that caused it. One that is being indexed may take over older ones. */
  seq: number;
  /** True when it changed while another scope was being indexed. */
  readonly preempts: boolean;
  /** Called once the scope is indexed, or the project is closed. */
  readonly waiters: ReadonlyArray<() => void>;
}

/** The scopes that wait to be indexed, in the order in which they first changed. */
export class PendingScopes {
  readonly #scopes = new Map<string, PendingScope>();

  get size(): number {
    return this.#scopes.size;
  }

  all(): PendingScope[] {
    return [...this.#scopes.values()];
  }

  first(): PendingScope | undefined {
    return this.#scopes.values().next().value;
  }

  /** Adds a scope, or merges it with the one that already waits. */
  add({ scope, seq, preempts, waiters }: PendingScope): void {
    const known = this.#scopes.get(scope.id);
    this.#scopes.set(scope.id, {
      scope,
      seq: Math.min(seq, known?.seq ?? seq),
      preempts: preempts || known?.preempts === true,
      waiters: [...(known?.waiters ?? []), ...waiters],
    });
  }

  remove({ scope }: PendingScope): void {
    this.#scopes.delete(scope.id);
  }

  /** Puts back a scope that was removed and could not be indexed completely. */
  restore(pending: PendingScope): void {
    const newer = this.#scopes.get(pending.scope.id);
    const waiters = [...pending.waiters, ...(newer?.waiters ?? [])];
    this.#scopes.set(pending.scope.id, { ...pending, waiters });
  }

  /** Removes all scopes and releases their waiters. */
  clear(): void {
    for (const { waiters } of this.#scopes.values()) for (const waiter of waiters) waiter();
    this.#scopes.clear();
  }
}

import type { ScopeRef } from "../../domain/scope.ts";

/** A scope that waits for indexing. */
export interface PendingScope {
  readonly scope: ScopeRef;
  /** The oldest log entry that caused it. One that is being indexed may take over older ones. */
  seq: number;
  /** True when it changed while another scope was being indexed. */
  preempts: boolean;
  /** Called once the scope is indexed, or the project is closed. */
  readonly waiters: Array<() => void>;
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

  /**
   * Adds a scope, or merges it into the one that already waits. That one stays the same object, because a list of
   * those that preempt may hold it: a copy would be indexed in its place, and those who came later would be forgotten.
   */
  add(added: PendingScope): void {
    const known = this.#scopes.get(added.scope.id);
    if (known === undefined) {
      this.#scopes.set(added.scope.id, added);
      return;
    }
    known.seq = Math.min(known.seq, added.seq);
    known.preempts ||= added.preempts;
    known.waiters.push(...added.waiters);
  }

  remove({ scope }: PendingScope): void {
    this.#scopes.delete(scope.id);
  }

  /** Puts back a scope that was removed and could not be indexed completely. */
  restore(pending: PendingScope): void {
    const newer = this.#scopes.get(pending.scope.id);
    pending.waiters.push(...(newer?.waiters ?? []));
    this.#scopes.set(pending.scope.id, pending);
  }

  /** Removes all scopes and releases their waiters. */
  clear(): void {
    for (const { waiters } of this.#scopes.values()) for (const waiter of waiters) waiter();
    this.#scopes.clear();
  }
}

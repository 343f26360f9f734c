import {
  INDEX_RETRY_BASE_MS,
  INDEX_RETRY_MAX_MS,
  INDEX_SLICE_MS,
  INDEX_SLICE_VERSIONS,
} from "../limits.ts";
import type { Log } from "../observability/log.ts";
import type { ChangeLog, Scope } from "./change-log.ts";
import { UnknownVersion, type VersionIndex, type VersionReader } from "./version-index.ts";

/** What the indexing of any project stands on. */
export interface IndexingContext {
  readonly indexes: readonly VersionIndex[];
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  readonly log: Log;
}

interface Pending {
  readonly scope: Scope;
  /** The oldest log entry that this stands for. */
  readonly seq: number;
  readonly waiters: Array<() => void>;
}

/** Thrown inside when the project is being closed; nobody outside sees it. */
class Closed extends Error {}

/**
 * Keeps the scopes of one open project as the database has them. Scopes that changed queue up here,
 * each at most once; one after the other is read, its unknown versions are added, and it is
 * replaced as a whole. A long one gives way to the others now and then.
 */
export class ProjectIndexer {
  readonly #pending = new Map<string, Pending>();
  #current: Pending | undefined;
  #running: Promise<void> | undefined;
  #closed = false;
  /** File versions and scopes taken in since `changes` was last reset by a snapshot. */
  changes = 0;

  constructor(
    readonly id: string,
    private readonly context: IndexingContext,
  ) {}

  /** Notes that a scope changed, with the log entry that says so. */
  mark(scope: Scope, seq: number, ...waiters: Array<() => void>): void {
    const known = this.#pending.get(scope.id);
    const oldest = Math.min(seq, known?.seq ?? seq);
    const all = [...(known?.waiters ?? []), ...waiters];
    this.#pending.set(scope.id, { scope, seq: oldest, waiters: all });
    this.#run();
  }

  /** Reads a scope anew and resolves when searches see it; never rejects. */
  refreshed(scope: Scope, seq: number): Promise<void> {
    return new Promise((resolve) => this.mark(scope, seq, resolve));
  }

  /** Resolves when nothing is pending, or the project was closed. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** The oldest log entry that is not taken in yet, or undefined when all are. */
  get oldestPending(): number | undefined {
    const seqs = [...this.#pending.values()].map((pending) => pending.seq);
    if (this.#current !== undefined) seqs.push(this.#current.seq);
    return seqs.length === 0 ? undefined : Math.min(...seqs);
  }

  /** Stops at the next step and resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
    for (const pending of this.#pending.values()) for (const waiter of pending.waiters) waiter();
    this.#pending.clear();
  }

  #run(): void {
    if (this.#running !== undefined || this.#closed) return;
    this.#running = this.#drain().finally(() => {
      this.#running = undefined;
      // Something may have been marked between the last look and now.
      if (this.#pending.size > 0) this.#run();
    });
  }

  async #drain(): Promise<void> {
    let failures = 0;
    while (!this.#closed) {
      const next = this.#pending.values().next().value;
      if (next === undefined) return;
      this.#pending.delete(next.scope.id);
      this.#current = next;
      try {
        const done = await this.#refresh(next.scope);
        if (done) for (const waiter of next.waiters) waiter();
        else this.#again(next);
        failures = 0;
      } catch (err) {
        this.#again(next);
        if (err instanceof Closed) return;
        const wait = Math.min(INDEX_RETRY_MAX_MS, INDEX_RETRY_BASE_MS * 2 ** failures++);
        const fields = { err, project: this.id, scope: next.scope.id };
        if (failures === 1) this.context.log.warn(fields, "a scope is not indexed yet; trying on");
        await Bun.sleep(wait);
      } finally {
        this.#current = undefined;
      }
    }
  }

  #again(pending: Pending): void {
    const newer = this.#pending.get(pending.scope.id);
    const waiters = [...pending.waiters, ...(newer?.waiters ?? [])];
    this.#pending.set(pending.scope.id, { ...pending, waiters });
  }

  /** True when the scope is as the database has it; false when it gave way half-done. */
  async #refresh(scope: Scope): Promise<boolean> {
    const { indexes, changes } = this.context;
    const versions = await changes.versionsOf(this.id, scope);
    this.#stopIfClosed();
    if (versions === null) {
      for (const index of indexes) index.dropScope(this.id, scope.id);
      return true;
    }
    const startedAt = performance.now();
    let waited = false;
    for (const index of indexes) {
      const unknown = versions.filter((version) => !index.knows(this.id, version));
      for (let at = 0; at < unknown.length; at += INDEX_SLICE_VERSIONS) {
        const slice = unknown.slice(at, at + INDEX_SLICE_VERSIONS);
        await index.add(this.id, slice, this.context.reader);
        waited = true;
        this.#stopIfClosed();
        this.changes += slice.length;
        const others = this.#pending.size > 0;
        if (others && performance.now() - startedAt > INDEX_SLICE_MS) return false;
      }
    }
    try {
      for (const index of indexes) index.setScope(this.id, scope.id, versions);
    } catch (err) {
      // Background work may have forgotten a version that no scope held, while others were read.
      if (waited && err instanceof UnknownVersion) return false;
      throw err;
    }
    this.changes++;
    return true;
  }

  #stopIfClosed(): void {
    if (this.#closed) throw new Closed();
  }
}

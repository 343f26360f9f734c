import type { LimitFunction } from "p-limit";
import type { Log } from "../../observability/log.ts";
import { step } from "../../observability/long-tasks.ts";
import {
  INDEX_RETRY_BASE_MS,
  INDEX_RETRY_MAX_MS,
  INDEX_SLICE_MIN_VERSIONS,
  INDEX_SLICE_MS,
  INDEX_SLICE_VERSIONS,
} from "../../shared/limits.ts";
import type { ChangeLog, Scope } from "../changes/change-log.ts";
import {
  UnknownVersion,
  type VersionIndex,
  type VersionReader,
} from "../versions/version-index.ts";

/** What the indexing of any project stands on. */
export interface IndexingContext {
  readonly indexes: readonly VersionIndex[];
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  /** Limits how many scopes read more than one slice at a time. */
  readonly bulk: LimitFunction;
  readonly log: Log;
}

interface Pending {
  readonly scope: Scope;
  /** The oldest log entry that this stands for. */
  readonly seq: number;
  /** True when it changed while another scope was being taken in. */
  readonly overtakes: boolean;
  readonly waiters: Array<() => void>;
}

/** Thrown inside when the project is being closed; nobody outside sees it. */
class Closed extends Error {}

/**
 * Keeps the scopes of one open project as the database has them. Scopes that changed queue up here,
 * each at most once; one after the other is read, its unknown versions are added, and it is
 * replaced as a whole, so searches see it as it was in one instant. A long one lets those that
 * change meanwhile go before it, slice by slice.
 */
export class ProjectIndexer {
  readonly #pending = new Map<string, Pending>();
  /** What is being taken in: a scope, and perhaps one that goes before the rest of it. */
  readonly #current = new Set<Pending>();
  #running: Promise<void> | undefined;
  /** Versions that lately took about INDEX_SLICE_MS, within bounds. */
  #sliceVersions = INDEX_SLICE_MIN_VERSIONS;
  #opened = false;
  #closed = false;
  /** File versions and scopes taken in since `changes` was last reset by a snapshot. */
  changes = 0;

  constructor(
    readonly id: string,
    private readonly context: IndexingContext,
  ) {}

  /** Tells that the indexes are open; what was marked before has waited for it. */
  open(): void {
    this.#opened = true;
    this.#run();
  }

  /** Notes scopes to be read in their order. */
  load(scopes: readonly Scope[], seq: number): void {
    for (const scope of scopes) this.#note(scope, seq, false, []);
    this.#run();
  }

  /** Notes that a scope changed, with the log entry that says so. */
  mark(scope: Scope, seq: number, ...waiters: Array<() => void>): void {
    this.#note(scope, seq, this.#current.size > 0, waiters);
    this.#run();
  }

  #note(scope: Scope, seq: number, overtakes: boolean, waiters: Array<() => void>): void {
    const known = this.#pending.get(scope.id);
    const oldest = Math.min(seq, known?.seq ?? seq);
    const all = [...(known?.waiters ?? []), ...waiters];
    const before = overtakes || known?.overtakes === true;
    this.#pending.set(scope.id, { scope, seq: oldest, overtakes: before, waiters: all });
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
    const seqs = [...this.#pending.values(), ...this.#current].map((pending) => pending.seq);
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
    if (!this.#opened || this.#pending.size === 0 || this.#running !== undefined || this.#closed)
      return;
    this.#running = this.#drain().finally(() => {
      this.#running = undefined;
      // Something may have been marked between the last look and now.
      this.#run();
    });
  }

  async #drain(): Promise<void> {
    let failures = 0;
    while (!this.#closed) {
      const next = this.#pending.values().next().value;
      if (next === undefined) return;
      try {
        await this.#takeIn(next, true);
        failures = 0;
      } catch (err) {
        if (err instanceof Closed) return;
        const wait = Math.min(INDEX_RETRY_MAX_MS, INDEX_RETRY_BASE_MS * 2 ** failures++);
        const fields = { err, project: this.id, scope: next.scope.id };
        if (failures === 1) this.context.log.warn(fields, "a scope is not indexed yet; trying on");
        await Bun.sleep(wait);
      }
    }
  }

  /** Takes a scope in, or a part of it; then it stays pending. `first`: it goes before no other. */
  async #takeIn(pending: Pending, first: boolean): Promise<void> {
    this.#pending.delete(pending.scope.id);
    this.#current.add(pending);
    let done = false;
    try {
      done = await this.#refresh(pending.scope, first);
    } finally {
      this.#current.delete(pending);
      if (!done) this.#again(pending);
    }
    if (done) for (const waiter of pending.waiters) waiter();
  }

  #again(pending: Pending): void {
    const newer = this.#pending.get(pending.scope.id);
    const waiters = [...pending.waiters, ...(newer?.waiters ?? [])];
    this.#pending.set(pending.scope.id, { ...pending, waiters });
  }

  /** Takes in what changed since the scope in hand was begun, each for a while at most. */
  async #letOthers(): Promise<void> {
    for (const pending of [...this.#pending.values()]) {
      const isCurrent = [...this.#current].some(({ scope }) => scope.id === pending.scope.id);
      if (pending.overtakes && !isCurrent) await this.#takeIn(pending, false);
    }
  }

  /** True when the scope is as the database had it; false when it gave way half-done. */
  async #refresh(scope: Scope, first: boolean): Promise<boolean> {
    const { indexes, changes } = this.context;
    const startedAt = performance.now();
    const versions = await changes.versionsOf(this.id, scope);
    this.#stopIfClosed();
    if (versions === null) {
      for (const index of indexes) index.dropScope(this.id, scope.id);
      return true;
    }
    let waited = false;
    const unknown = step("unknown versions", () => versions.filter((id) => !this.#isKnown(id)));
    for (let at = 0; at < unknown.length; ) {
      if (waited && first) await this.#letOthers();
      else if (waited && performance.now() - startedAt > INDEX_SLICE_MS) return false;
      const slice = unknown.slice(at, at + this.#sliceVersions);
      const add = () => this.#add(slice);
      await (unknown.length > INDEX_SLICE_VERSIONS ? this.context.bulk(add) : add());
      at += slice.length;
      waited = true;
    }
    try {
      for (const index of indexes) {
        step(`setScope ${index.name}`, () => index.setScope(this.id, scope.id, versions));
      }
    } catch (err) {
      // Background work may have forgotten a version that no scope held, while others were read.
      if (waited && err instanceof UnknownVersion) return false;
      throw err;
    }
    this.changes++;
    return true;
  }

  #isKnown(version: string): boolean {
    return this.context.indexes.every((index) => index.knows(this.id, version));
  }

  /** Adds versions to the indexes that do not know them by now; one works while another reads. */
  async #add(versions: readonly string[]): Promise<void> {
    const startedAt = performance.now();
    const adding = this.context.indexes.map(async (index) => {
      const unknown = versions.filter((version) => !index.knows(this.id, version));
      if (unknown.length > 0) await index.add(this.id, unknown, this.context.reader);
    });
    // Nothing may still run when a failure makes the scope start over.
    const results = await Promise.allSettled(adding);
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    this.#stopIfClosed();
    this.changes += versions.length;
    // Versions differ in their chunks, machines in their speed: the next slice is to take its time.
    const took = performance.now() - startedAt;
    if (took > INDEX_SLICE_MS) {
      this.#sliceVersions = Math.max(INDEX_SLICE_MIN_VERSIONS, this.#sliceVersions >> 1);
    } else if (took < INDEX_SLICE_MS / 2 && versions.length === this.#sliceVersions) {
      this.#sliceVersions = Math.min(INDEX_SLICE_VERSIONS, this.#sliceVersions * 2);
    }
  }

  #stopIfClosed(): void {
    if (this.#closed) throw new Closed();
  }
}

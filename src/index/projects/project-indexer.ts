import { INDEX_RETRY_BASE_MS, INDEX_RETRY_MAX_MS, INDEX_SLICE_MS } from "../../domain/limits.ts";
import type { ScopeRef } from "../../domain/scope.ts";
import { retryUntilSuccess } from "../../ops/retry.ts";
import { TaskPool } from "../../ops/task-pool.ts";
import { UnknownVersion } from "../versions/version-table.ts";
import { AnnouncedVersions } from "./announced-versions.ts";
import type { IndexingContext } from "./indexing-context.ts";
import { type PendingScope, PendingScopes } from "./pending-scopes.ts";
import { IndexingEnded, type ProjectSink } from "./project-sink.ts";
import { SliceSize } from "./slice-size.ts";

/** More new file versions than this are read in bulk. */
const INDEX_BULK_VERSIONS = 256;

const BACKOFF = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_MAX_MS };

/**
 * Keeps the scopes of one project as they are in the database. Changed scopes wait in a queue, each
 * at most once. One at a time is read, its unknown versions are added, and it is replaced as a
 * whole, so searches see it at one instant. A long one yields to scopes that change meanwhile after
 * every slice.
 */
export class ProjectIndexer {
  readonly #pending = new PendingScopes();
  /** The scope that is being indexed, and the one that preempts it, if any. */
  readonly #current = new Set<PendingScope>();
  readonly #slice = new SliceSize();
  readonly #announced = new AnnouncedVersions();
  /** Versions whose chunks have got embeddings since they were added, with the log entries that say so. */
  readonly #embedded = new Map<string, number>();
  #running: Promise<void> | undefined;
  #opened = false;
  #closed = false;
  /** File versions and scopes indexed since the last snapshot. */
  unsavedChanges = 0;

  constructor(
    readonly id: string,
    private readonly context: Pick<IndexingContext, "log" | "changes">,
    private readonly sink: ProjectSink,
    /** Called when `oldestPending` may have changed. */
    private readonly progressed: () => void = () => {},
  ) {}

  /** Begins to index, once the sink is open. Scopes that were marked before have waited. */
  open(): void {
    this.#opened = true;
    this.#run();
  }

  /**
   * Queues scopes in the given order. Resolves when each has been indexed once, or the project is closed. It does not
   * wait for later changes, because changes may never pause.
   */
  async load(scopes: readonly ScopeRef[], seq: number): Promise<void> {
    if (this.#closed) return;
    const indexed = scopes.map((scope) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#pending.add({ scope, seq, preempts: false, waiters: [resolve] });
      return promise;
    });
    this.#run();
    await Promise.all(indexed);
  }

  /** Queues a scope that changed at this log entry. */
  mark(scope: ScopeRef, seq: number, ...waiters: Array<() => void>): void {
    if (this.#closed) {
      for (const waiter of waiters) waiter();
      return;
    }
    this.#pending.add({ scope, seq, preempts: this.#current.size > 0, waiters });
    this.progressed();
    this.#run();
  }

  /** Adds file versions before a scope holds them, while no scope waits to be indexed. */
  announce(versions: readonly string[]): void {
    this.#announced.add(versions);
    this.#run();
  }

  /** A version has got embeddings: it is added again, and the scopes that hold it are replaced. */
  readAgain(versionId: string, seq: number): void {
    if (this.#closed) return;
    this.#embedded.set(versionId, seq);
    this.progressed();
    this.#run();
  }

  /** How long the oldest announced version has waited, in milliseconds; 0 when none waits. */
  get announcedMs(): number {
    return this.#announced.waitingMs;
  }

  /** Indexes a scope again; resolves when searches see it, or the project is closed. */
  reindex(scope: ScopeRef, seq: number): Promise<void> {
    return new Promise((resolve) => this.mark(scope, seq, resolve));
  }

  /** Resolves when nothing is pending, or the project was closed. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** True while scopes or versions are being added. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** The last change up to which searches see all, if the project has received the changes up to `reached`. */
  applied(reached: number): number {
    return Math.min(reached, (this.oldestPending ?? Number.POSITIVE_INFINITY) - 1);
  }

  /** The oldest log entry that is not indexed yet; undefined when all are. */
  get oldestPending(): number | undefined {
    const scopes = [...this.#pending.all(), ...this.#current].map((pending) => pending.seq);
    const seqs = [...scopes, ...this.#embedded.values()];
    return seqs.length === 0 ? undefined : Math.min(...seqs);
  }

  /** Stops after the current step. Resolves when all work of the project has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
    this.#pending.clear();
    this.#embedded.clear();
  }

  #run(): void {
    if (!this.#opened || this.#closed || this.#running !== undefined) return;
    if (this.#pending.size + this.#announced.size + this.#embedded.size === 0) return;
    this.#running = this.#drain().finally(() => {
      this.#running = undefined;
      // A scope may have been marked after the last look at the queue.
      this.#run();
    });
  }

  async #drain(): Promise<void> {
    let next: PendingScope | undefined;
    const indexNext = async () => {
      next = this.#closed ? undefined : this.#pending.first();
      if (next !== undefined) await this.#indexScope(next, false);
      else if (!this.#closed) await this.#addAnnounced();
    };
    const step = async () => {
      try {
        await this.sink.exclusively(indexNext);
      } catch (error) {
        if (!(error instanceof IndexingEnded)) throw error;
        this.#closed = true;
        next = undefined;
      }
    };
    const report = (err: unknown) => {
      const fields = { err, project: this.id, scope: next?.scope.id };
      this.context.log.warn(fields, "cannot index a scope; retrying");
    };
    do {
      await retryUntilSuccess(step, BACKOFF, report);
    } while (next !== undefined);
  }

  /** Indexes a scope, or a part of it; then it remains pending. */
  async #indexScope(pending: PendingScope, preempting: boolean): Promise<void> {
    this.#pending.remove(pending);
    this.#current.add(pending);
    let done = false;
    try {
      done = await this.#replace(pending, preempting);
    } finally {
      this.#current.delete(pending);
      if (!done) this.#pending.restore(pending);
    }
    this.progressed();
    if (done) for (const waiter of pending.waiters) waiter();
  }

  /** True if a scope changed since the current one was begun. */
  #isOtherWaiting(): boolean {
    return this.#pending.all().some((pending) => pending.preempts && !this.#isCurrent(pending));
  }

  /** Indexes the scopes that changed since the current one was begun, each for a limited time. */
  async #yieldToOthers(): Promise<void> {
    for (const pending of this.#pending.all()) {
      if (pending.preempts && !this.#isCurrent(pending)) await this.#indexScope(pending, true);
    }
  }

  #isCurrent({ scope: { id } }: PendingScope): boolean {
    return [...this.#current].some(({ scope }) => scope.id === id);
  }

  /** Indexes a scope as it is in the database; false if it must continue later. */
  async #replace(pending: PendingScope, preempting: boolean): Promise<boolean> {
    const { scope } = pending;
    await this.#takeEmbedded(pending);
    const versions = await this.context.changes.versionsOf(this.id, scope);
    this.#throwIfClosed();
    if (versions === null) {
      await this.sink.dropScope(scope.id);
      this.unsavedChanges++;
      return true;
    }
    const unknown = await this.sink.unknown(versions, scope.id);
    if (!(await this.#addInSlices(unknown, preempting))) return false;
    return await this.#setScope(scope.id, versions);
  }

  /**
   * Lets versions that have got embeddings be added again, with all scopes that hold them. No version is being
   * added meanwhile, so none is read before it had its embeddings and added after.
   *
   * @param current the scope that is read next anyway, and shows the embeddings only then
   */
  async #takeEmbedded(current?: PendingScope): Promise<void> {
    const embedded = [...this.#embedded];
    if (embedded.length === 0) return;
    const versions = embedded.map(([version]) => version);
    await this.sink.readAgain(versions);
    const seq = Math.min(...this.#embedded.values());
    if (current !== undefined) current.seq = Math.min(current.seq, seq);
    // A scope that gets one of the versions later has a log entry after those of the embeddings.
    for (const scope of await this.context.changes.scopesHolding(this.id, versions)) {
      if (scope.id !== current?.scope.id) {
        this.#pending.add({ scope, seq, preempts: false, waiters: [] });
      }
    }
    for (const [version, entry] of embedded) {
      if (this.#embedded.get(version) === entry) this.#embedded.delete(version);
    }
    this.progressed();
  }

  /**
   * Adds versions slice by slice; the next one is read while this one is indexed. False when the time
   * of a scope that preempts another is over.
   */
  async #addInSlices(unknown: readonly string[], preempting: boolean): Promise<boolean> {
    const startedAt = performance.now();
    const pool = new TaskPool(this.sink.slicesAtOnce);
    const isBulk = unknown.length > INDEX_BULK_VERSIONS;
    for (let at = 0; at < unknown.length; ) {
      if (at > 0 && !preempting && this.#isOtherWaiting()) {
        await pool.settled();
        await this.#yieldToOthers();
      } else if (at > 0 && preempting && performance.now() - startedAt > INDEX_SLICE_MS) {
        await pool.settled();
        return false;
      }
      const slice = unknown.slice(at, at + this.#slice.versions);
      at += slice.length;
      await pool.start(() => this.#add(slice, isBulk));
    }
    await pool.settled();
    return true;
  }

  /** Adds announced versions until a scope waits. Those that fail are added with their scope. */
  async #addAnnounced(): Promise<void> {
    await this.#takeEmbedded();
    const { slicesAtOnce, announcedSlices } = this.sink;
    const pool = new TaskPool(slicesAtOnce);
    for (let slices = 0; slices < announcedSlices; slices++) {
      if (this.#announced.size === 0 || this.#pending.size > 0) break;
      const slice = this.#announced.take(this.#slice.versions);
      const unknown = await this.sink.unknown(slice);
      if (unknown.length > 0) await pool.start(() => this.#add(unknown, true));
    }
    await pool.settled();
  }

  /** Sets the scope; false if it must be read again. */
  async #setScope(scopeId: string, versions: readonly string[]): Promise<boolean> {
    try {
      await this.sink.setScope(scopeId, versions);
    } catch (err) {
      // A version was deleted after the scope was read.
      if (err instanceof UnknownVersion) return false;
      throw err;
    }
    this.unsavedChanges++;
    return true;
  }

  #add(versions: readonly string[], isBulk: boolean): Promise<void> {
    return this.sink.limited(isBulk, async () => {
      const startedAt = performance.now();
      await this.sink.add(versions);
      this.#throwIfClosed();
      this.unsavedChanges += versions.length;
      this.#slice.record(versions.length, performance.now() - startedAt);
    });
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new IndexingEnded();
  }
}

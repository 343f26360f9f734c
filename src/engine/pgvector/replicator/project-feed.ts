import pLimit from "p-limit";
import { INDEX_RETRY_BASE_MS, INDEX_RETRY_MAX_MS } from "../../../shared/limits.ts";
import { retryUntilSuccess } from "../../../shared/retry.ts";
import { AnnouncedVersions } from "../../indexing/projects/announced-versions.ts";
import { SliceSize } from "../../indexing/projects/slice-size.ts";
import type { ScopeRef } from "../../requests/scope.ts";
import type { FeedContext } from "./feed-context.ts";
import { isStored } from "./projects-store.ts";
import { dropScope, replaceScope } from "./scope-store.ts";
import { LostLeadership, type ProjectStore } from "./store.ts";
import { VersionCounts } from "./version-counts.ts";

const BACKOFF = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_MAX_MS };

interface PendingScope {
  readonly scope: ScopeRef;
  /** The oldest change that is not applied. */
  readonly seq: number;
}

/**
 * Keeps one project in the engine's database as it is in the platform's. Scopes that changed wait in
 * a queue, each at most once; one at a time is read and replaced. File versions that an import has
 * announced are stored while no scope waits.
 */
export class ProjectFeed {
  readonly #pending = new Map<string, PendingScope>();
  #current: PendingScope | undefined;
  readonly #announced = new AnnouncedVersions();
  readonly #slice = new SliceSize();
  #store: Promise<ProjectStore> | undefined;
  /** Everything that writes to the project runs one after the other. */
  readonly #serial = pLimit(1);
  #running = false;
  #closed = false;

  constructor(
    readonly id: string,
    private readonly context: FeedContext,
  ) {}

  mark(scope: ScopeRef, seq: number): void {
    const waiting = this.#pending.get(scope.id);
    this.#pending.set(scope.id, waiting ?? { scope, seq });
    this.#run();
  }

  announce(versions: readonly string[]): void {
    this.#announced.add(versions);
    this.#run();
  }

  /** The oldest change that is not searchable yet; undefined when all are. */
  get oldestPending(): number | undefined {
    const all = [...this.#pending.values(), ...(this.#current ? [this.#current] : [])];
    return all.length === 0 ? undefined : Math.min(...all.map(({ seq }) => seq));
  }

  /** How long the oldest announced version has waited, in milliseconds. */
  get announcedMs(): number {
    return this.#announced.waitingMs;
  }

  get isBusy(): boolean {
    return this.#running;
  }

  /** Runs work that must not overlap with other writes; not if the project was closed or has no tables. */
  exclusively<T>(work: (store: ProjectStore) => Promise<T>): Promise<T | undefined> {
    return this.#serial(async () => {
      if (this.#closed || !(await isStored(this.context.sql, this.id))) return undefined;
      return await work(await this.#opened());
    });
  }

  /** Stops after the current step; resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pending.clear();
    await this.#serial(async () => {});
  }

  #run(): void {
    if (this.#running || this.#closed) return;
    this.#running = true;
    void this.#drain().finally(() => {
      this.#running = false;
      if (this.#pending.size > 0 || this.#announced.size > 0) this.#run();
    });
  }

  async #drain(): Promise<void> {
    const { log, projects } = this.context;
    const step = () => projects(() => this.#serial(() => this.#step()));
    while (!this.#closed && (this.#pending.size > 0 || this.#announced.size > 0)) {
      await retryUntilSuccess(step, BACKOFF, (err) => {
        log.warn({ err, project: this.id }, "cannot write a scope's vectors; retrying");
      });
    }
  }

  async #step(): Promise<void> {
    if (this.#closed) return;
    const [next] = this.#pending.values();
    try {
      if (next === undefined) await this.#addAnnounced();
      else await this.#apply(next);
    } catch (error) {
      if (!(error instanceof LostLeadership)) throw error;
      this.#closed = true;
      this.context.lost();
    }
  }

  async #addAnnounced(): Promise<void> {
    const versions = this.#announced.take(this.#slice.versions);
    // A project that was deleted meanwhile must not get tables again.
    if ((await this.context.changes.scopesOf(this.id)) === null) return;
    await this.#add(await this.#opened(), versions);
    this.context.changed(this.id);
  }

  async #apply(next: PendingScope): Promise<void> {
    const { scope } = next;
    this.#pending.delete(scope.id);
    this.#current = next;
    try {
      await this.#replace(scope);
    } catch (error) {
      // A change that came meanwhile has a later number.
      this.#pending.set(scope.id, next);
      throw error;
    } finally {
      this.#current = undefined;
    }
  }

  async #replace(scope: ScopeRef): Promise<void> {
    const { changes, sql } = this.context;
    const versions = await changes.versionsOf(this.id, scope);
    // Deleting a project deletes its scopes, too, and must not create its tables again.
    if (versions === null && !(await isStored(sql, this.id))) return;
    const store = await this.#opened();
    if (versions === null) await dropScope(store, scope.id);
    else await replaceScope(sql, store, scope.id, versions, (added) => this.#add(store, added));
    this.context.changed(this.id);
  }

  /** Stores the chunks of versions that are not stored yet, slice by slice. */
  async #add(store: ProjectStore, versions: readonly string[]): Promise<void> {
    const unknown = await store.unknown(versions);
    for (let at = 0; at < unknown.length && !this.#closed; ) {
      const slice = unknown.slice(at, at + this.#slice.versions);
      at += slice.length;
      const startedAt = performance.now();
      await this.#addSlice(store, slice);
      this.#slice.record(slice.length, performance.now() - startedAt);
    }
  }

  async #addSlice(store: ProjectStore, versions: readonly string[]): Promise<void> {
    const counts = new VersionCounts();
    for await (const rows of this.context.reader.chunks(versions)) {
      for (const chunk of await store.addChunks(rows, counts)) {
        this.context.log.warn({ chunk }, "a chunk's embedding is all zeros or not finite");
      }
    }
    await store.addVersions(counts);
  }

  #opened(): Promise<ProjectStore> {
    const opening = this.#store ?? this.context.openProject(this.id);
    this.#store = opening;
    // After a failure the next step tries again.
    opening.catch(() => {
      this.#store = undefined;
    });
    return opening;
  }
}

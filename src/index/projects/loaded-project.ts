import { isUnavailable } from "../../db/errors.ts";
import type { MaintenanceState } from "../versions/version-index.ts";
import { DerivedScopes } from "./derived-scopes.ts";
import type { IndexingContext } from "./indexing-context.ts";
import { LoadedIndexes } from "./loaded-indexes.ts";
import { ProjectIndexer } from "./project-indexer.ts";
import { type Restored, restoreProject } from "./restore-project.ts";

/** After a failed snapshot a project is not saved for this long, doubled with every failure. */
const INDEX_SNAPSHOT_RETRY_MS = 10_000;
const INDEX_SNAPSHOT_RETRY_MAX_MS = 300_000;

/** Failures of loading a project after which others no longer wait for it. */
const INDEX_LOAD_ATTEMPTS = 2;

/** `missing` when the database has no such project, `dropped` when it was evicted or rebuilt meanwhile. */
export type LoadOutcome = "loaded" | "missing" | "dropped";

/** A project in memory, or on its way there. */
export class LoadedProject {
  readonly indexer: ProjectIndexer;
  readonly derived: DerivedScopes;
  readonly indexes: LoadedIndexes;
  readonly loading: Promise<LoadOutcome>;
  readonly finishLoading: (outcome: LoadOutcome) => void;
  /** Resolves when it is loaded, or loading it has failed INDEX_LOAD_ATTEMPTS times for reasons of its own. */
  readonly loadedOrStuck: Promise<unknown>;
  readonly #stuck: () => void;
  #loadFailures = 0;
  /** When searches could first use it; undefined until then. */
  readyAt: number | undefined;
  usedAt = performance.now();
  /** The user whose request loads it. Without a request, the project counts as a tenant of its own. */
  tenant: string;
  /** Indexes that maintenance has changed since it was complete. */
  readonly #maintained = new Set<string>();
  /** When the first change since the last snapshot was seen. */
  #dirtySince: number | undefined;
  #restored: Restored | undefined;
  /** The restore that runs or has run. */
  #restoring: Promise<void> | undefined;
  #closed = false;
  /** Snapshots that failed in a row. */
  #failures = 0;
  #restsUntil = 0;

  constructor(
    readonly id: string,
    private readonly context: IndexingContext,
    /** Called when the oldest pending change may be another one. */
    progressed: () => void,
  ) {
    this.tenant = id;
    this.derived = new DerivedScopes(id, context);
    this.indexes = new LoadedIndexes(id, context, this.derived);
    this.indexer = new ProjectIndexer(id, context, this.indexes, progressed);
    const { promise, resolve } = Promise.withResolvers<LoadOutcome>();
    this.loading = promise;
    this.finishLoading = resolve;
    const stuck = Promise.withResolvers<void>();
    this.#stuck = stuck.resolve;
    this.loadedOrStuck = Promise.race([promise, stuck.promise]);
  }

  /** Restores the project and indexes its missing changes; false if it does not exist. */
  async load(): Promise<boolean> {
    try {
      return await this.#tryToLoad();
    } catch (err) {
      // While the database is away, all projects wait for it in their turns.
      if (!isUnavailable(err) && ++this.#loadFailures >= INDEX_LOAD_ATTEMPTS) this.#stuck();
      throw err;
    }
  }

  async #tryToLoad(): Promise<boolean> {
    const { anchor, changes, indexes } = this.context;
    const { seq } = anchor();
    if (this.#restored === undefined) {
      this.#restoring = this.#restore();
      await this.#restoring;
    }
    const all = await changes.scopesOf(this.id);
    if (all === null) return false;
    // It is undefined in a project that was closed meanwhile, which loads nothing.
    const scopes = this.#restored?.scopes ?? null;
    await this.indexer.load(scopes ?? all, seq);
    // The segments of a snapshot are already merged.
    if (scopes === null) await Promise.all(indexes.map((index) => index.settle?.(this.id)));
    return true;
  }

  async #restore(): Promise<void> {
    const restored = await restoreProject(this.id, this.context);
    if (this.#closed) return;
    this.#restored = restored;
    this.indexes.open(restored.table);
    this.indexes.readAgain(restored.embedded);
    this.indexer.open();
  }

  /** Stops indexing. Resolves when nothing works on the indexes of the project any longer, so that they can be dropped. */
  async close(): Promise<void> {
    this.#closed = true;
    this.derived.close();
    await this.indexer.close();
    await this.#restoring?.catch(() => {});
  }

  /** Milliseconds since the first change that is in no snapshot yet; 0 at its first sight. */
  dirtyMs(now: number): number {
    this.#dirtySince ??= now;
    return now - this.#dirtySince;
  }

  /** True once searches may use it. */
  get ready(): boolean {
    return this.readyAt !== undefined;
  }

  /** Notes that it was searched, with these derived scopes. */
  used(derivedScopes: ReadonlySet<string>): void {
    this.usedAt = performance.now();
    for (const scopeId of derivedScopes) this.derived.used(scopeId);
  }

  /**
   * False for a while after a failed snapshot, such as on a full disk. After a fail-over that has lost changes, false
   * until every scope was read again, because a snapshot would hold states that this log never had.
   */
  canSave(now: number): boolean {
    return now >= this.#restsUntil && this.indexer.oldestPending !== 0;
  }

  /** Does one slice of maintenance, and starts background work. */
  maintain(): MaintenanceState {
    let left: MaintenanceState = "done";
    for (const index of this.context.indexes) {
      const state = index.maintain(this.id);
      if (state === "more") {
        this.#maintained.add(index.name);
        return state;
      }
      if (state === "busy") left = state;
      // Finished maintenance is saved, so that it is not repeated after a restart.
      else if (this.#maintained.delete(index.name)) this.indexer.unsavedChanges++;
    }
    return left;
  }

  /** Writes the project to its snapshot. */
  async save(): Promise<void> {
    const { anchor, databaseId, indexes, snapshots } = this.context;
    const position = anchor();
    const seq = this.indexer.applied(position.seq);
    const { unsavedChanges } = this.indexer;
    const dirtySince = this.#dirtySince;
    this.indexer.unsavedChanges = 0;
    this.#dirtySince = undefined;
    // The versions may be in this snapshot; they are not in the next one.
    this.indexes.forgetUnheld().catch((err: unknown) => {
      const fields = { err, project: this.id };
      this.context.log.warn(fields, "cannot forget the file versions that no scope holds");
    });
    try {
      await snapshots.write(this.id, { databaseId, anchor: position, seq }, indexes);
      this.#failures = 0;
    } catch (err) {
      const pause = INDEX_SNAPSHOT_RETRY_MS * 2 ** this.#failures++;
      this.#restsUntil = performance.now() + Math.min(pause, INDEX_SNAPSHOT_RETRY_MAX_MS);
      this.indexer.unsavedChanges += unsavedChanges;
      this.#dirtySince = dirtySince;
      throw err;
    }
  }
}

import { INDEX_IDLE_MS, INDEX_RETRY_BASE_MS, INDEX_RETRY_MAX_MS } from "../../shared/limits.ts";
import type { Anchor, Scope } from "../changes/change-log.ts";
import type { SnapshotStore } from "../snapshots/snapshot-store.ts";
import { type IndexingContext, ProjectIndexer } from "./project-indexer.ts";
import { type Restored, restoreProject } from "./restore.ts";

export interface ResidencyEvents {
  /** Searches may use the project from now on. */
  resident(projectId: string): void;
  /** Called before the memory of the project goes. */
  evicted(projectId: string): void;
}

interface Resident {
  readonly indexer: ProjectIndexer;
  /** False when the project does not exist. Settles when it is loaded or was dropped meanwhile. */
  readonly loaded: Promise<boolean>;
  ready: boolean;
  usedAt: number;
  /** When the first change since the last snapshot was seen. */
  dirtySince: number | undefined;
  /** What opening its indexes has restored, once they are open. */
  restored: Restored | undefined;
  /** Indexes with background work under way. */
  readonly unsettled: Set<string>;
}

/**
 * The projects that are in memory. A project is loaded from its snapshot and the changes since, or
 * from the database alone, and goes back to its snapshot when it is dropped.
 */
export class Residency {
  readonly #projects = new Map<string, Resident>();
  /** Projects on their way out; loading one again waits for that. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** The snapshot that is being written. */
  #writing: Promise<void> | undefined;

  constructor(
    private readonly context: IndexingContext,
    private readonly snapshots: SnapshotStore,
    private readonly databaseId: string,
    private readonly anchor: () => Anchor,
    private readonly events: ResidencyEvents,
  ) {}

  ids(): string[] {
    return [...this.#projects.keys()];
  }

  /** Projects that searches may use. */
  ready(): ProjectIndexer[] {
    return [...this.#projects.values()].filter((p) => p.ready).map((p) => p.indexer);
  }

  /** Notes a changed scope, if its project is in memory or on its way there. */
  mark(projectId: string, scope: Scope, seq: number): void {
    this.#projects.get(projectId)?.indexer.mark(scope, seq);
  }

  /** Notes that projects were searched a moment ago. */
  used(projectIds: readonly string[]): void {
    for (const id of projectIds) {
      const resident = this.#projects.get(id);
      if (resident) resident.usedAt = performance.now();
    }
  }

  /** Loads a project; false when there is no such project. */
  async load(projectId: string): Promise<boolean> {
    await this.#leaving.get(projectId);
    const known = this.#projects.get(projectId);
    if (known !== undefined) return await known.loaded;
    const indexer = new ProjectIndexer(projectId, this.context);
    const { promise: loaded, resolve } = Promise.withResolvers<boolean>();
    const usedAt = performance.now();
    const resident: Resident = {
      indexer,
      loaded,
      ready: false,
      usedAt,
      dirtySince: undefined,
      restored: undefined,
      unsettled: new Set(),
    };
    this.#projects.set(projectId, resident);
    resolve(await this.#loadUntilDone(resident));
    return await loaded;
  }

  /** Loads a project and reads the scope unless all indexes have it; false when either is absent. */
  async ensure(projectId: string, scope: Scope): Promise<boolean> {
    if (!(await this.load(projectId))) return false;
    const { indexes } = this.context;
    const resident = this.#projects.get(projectId);
    if (resident === undefined) return false;
    if (!indexes.every((index) => index.hasScope(projectId, scope.id))) {
      await resident.indexer.refreshed(scope, this.anchor().seq);
    }
    return indexes.every((index) => index.hasScope(projectId, scope.id));
  }

  /** Drops a project that is gone from the database, its snapshot included. */
  async remove(projectId: string): Promise<void> {
    await this.#drop(projectId);
    this.snapshots.discard(projectId);
  }

  /** Makes a project anew from the database, if it is in memory. */
  async rebuild(projectId: string): Promise<void> {
    const wasResident = this.#projects.has(projectId);
    await this.remove(projectId);
    if (wasResident) await this.load(projectId);
  }

  /** Does one slice of background work for some project; true while more is left. */
  settle(): boolean {
    for (const [id, resident] of this.#projects) {
      if (!resident.ready) continue;
      for (const index of this.context.indexes) {
        const more = index.settle(id);
        if (more) resident.unsettled.add(index.name);
        // What it has done should not be done again after a restart.
        else if (resident.unsettled.delete(index.name)) resident.indexer.changes++;
        if (more) return true;
      }
    }
    return false;
  }

  /** True while some project has changes that searches do not see yet. */
  isTakingIn(): boolean {
    for (const { indexer } of this.#projects.values()) {
      if (indexer.oldestPending !== undefined) return true;
    }
    return false;
  }

  /** Writes the snapshot of the first project that `due` picks; true when there was one. */
  async snapshotOne(due: (changes: number, dirtyMs: number) => boolean): Promise<boolean> {
    const now = performance.now();
    for (const resident of this.#projects.values()) {
      const { changes } = resident.indexer;
      if (!resident.ready || changes === 0) continue;
      resident.dirtySince ??= now;
      if (!due(changes, now - resident.dirtySince)) continue;
      await this.#snapshot(resident);
      return true;
    }
    return false;
  }

  /** Resident memory of all projects. */
  totals(): { vectors: number; bytes: number } {
    let vectors = 0;
    let bytes = 0;
    for (const id of this.#projects.keys()) {
      for (const index of this.context.indexes) {
        for (const part of index.stats(id)) {
          bytes += part.bytes;
          if (part.dimension > 0) vectors += part.entries;
        }
      }
    }
    return { vectors, bytes };
  }

  /** Drops the project that was idle for longest to its snapshot; false when none is idle. */
  async evictIdle(): Promise<boolean> {
    const idleSince = performance.now() - INDEX_IDLE_MS;
    const idle = [...this.#projects.values()]
      .filter((resident) => resident.ready && resident.usedAt < idleSince)
      .sort((a, b) => a.usedAt - b.usedAt)[0];
    if (idle === undefined) return false;
    if (idle.indexer.changes > 0) await this.#snapshot(idle);
    await this.#drop(idle.indexer.id);
    return true;
  }

  #drop(projectId: string): Promise<void> {
    const resident = this.#projects.get(projectId);
    if (resident === undefined) return this.#leaving.get(projectId) ?? Promise.resolve();
    this.#projects.delete(projectId);
    this.events.evicted(projectId);
    const leaving = resident.indexer.close().then(async () => {
      await this.#writing?.catch(() => {});
      for (const index of this.context.indexes) index.dropProject(projectId);
      this.#leaving.delete(projectId);
    });
    this.#leaving.set(projectId, leaving);
    return leaving;
  }

  /** Loading fails when the database is away; then it starts over. */
  async #loadUntilDone(resident: Resident): Promise<boolean> {
    const { id } = resident.indexer;
    for (let failures = 0; this.#projects.get(id) === resident; failures++) {
      try {
        const found = await this.#loadOnce(resident);
        if (this.#projects.get(id) !== resident) return false;
        if (!found) {
          await this.remove(id);
          return false;
        }
        resident.ready = true;
        this.events.resident(id);
        return true;
      } catch (err) {
        if (failures === 0) this.context.log.warn({ err, project: id }, "a project does not load");
        await Bun.sleep(Math.min(INDEX_RETRY_MAX_MS, INDEX_RETRY_BASE_MS * 2 ** failures));
      }
    }
    return false;
  }

  async #loadOnce(resident: Resident): Promise<boolean> {
    const { indexer } = resident;
    const { id } = indexer;
    const { changes, indexes } = this.context;
    const seq = this.anchor().seq;
    if (resident.restored === undefined) {
      resident.restored = await restoreProject(id, this.context, this.snapshots, this.databaseId);
      for (const index of indexes) index.openProject(id);
      indexer.open();
    }
    const all = await changes.scopesOf(id);
    if (all === null) return false;
    indexer.load(resident.restored.scopes ?? all, seq);
    await indexer.idle();
    return true;
  }

  /** One at a time, and none is dropped before its snapshot is finished. */
  async #snapshot(resident: Resident): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => {});
    this.#writing = this.#writeSnapshot(resident).finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #writeSnapshot(resident: Resident): Promise<void> {
    const { indexer, dirtySince } = resident;
    if (this.#projects.get(indexer.id) !== resident) return;
    const { changes } = indexer;
    const anchor = this.anchor();
    const pending = indexer.oldestPending;
    const seq = pending === undefined ? anchor.seq : Math.min(anchor.seq, pending - 1);
    indexer.changes = 0;
    resident.dirtySince = undefined;
    try {
      this.snapshots.prepare(indexer.id);
      for (const index of this.context.indexes) {
        await index.snapshot(indexer.id, this.snapshots.directory(indexer.id, index.name));
      }
      await this.snapshots.write(indexer.id, { databaseId: this.databaseId, anchor, seq });
    } catch (err) {
      indexer.changes += changes;
      resident.dirtySince = dirtySince;
      throw err;
    }
  }
}

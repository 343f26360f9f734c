import pLimit, { type LimitFunction } from "p-limit";
import type { Sql } from "../../../db/client.ts";
import type { ChangeLog } from "../../../index/changes/change-log.ts";
import { ProjectIndexer } from "../../../index/projects/project-indexer.ts";
import { IndexingEnded, type ProjectSink } from "../../../index/projects/project-sink.ts";
import type { VersionReader } from "../../../index/versions/version-index.ts";
import type { Log } from "../../../ops/observability/log.ts";
import { drawVectors, giveCodes } from "./give-codes.ts";
import { type CopyRole, isStored } from "./projects-store.ts";
import { changeOf, dropScope, replaceScope, type ScopeChange } from "./scope-store.ts";
import { LostLeadership, type ProjectStore } from "./store.ts";
import { VersionCounts } from "./version-counts.ts";

/** The databases, limits and callbacks that all projects of the leader share. */
export interface ReplicationContext {
  readonly log: Log;
  /** The engine's database. */
  readonly sql: Sql;
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  /** Limits the number of projects that are written concurrently. */
  readonly projects: LimitFunction;
  /** Opens a copy of a project. A missing serving copy is created. */
  openProject(projectId: string, role: CopyRole): Promise<ProjectStore>;
  /** Called after rows of a project have changed. */
  changed(projectId: string): void;
  /** Called when another process has become the leader. */
  lost(): void;
}

/** The tables of one copy of a project in the engine's database, which an indexer keeps like the platform's. */
export class ReplicatedProject implements ProjectSink {
  readonly slicesAtOnce = 1;
  /** Other projects take turns with announced versions. */
  readonly announcedSlices = 1;
  readonly indexer: ProjectIndexer;
  #store: Promise<ProjectStore> | undefined;
  /** The versions that the current step adds, or some of them. */
  #unknown: readonly string[] = [];
  /** The change that the current step makes to each scope. */
  readonly #changes = new Map<string, ScopeChange>();
  /** Runs all writes to the project one after the other. */
  readonly #serial = pLimit(1);
  #closed = false;

  constructor(
    readonly id: string,
    private readonly context: ReplicationContext,
    /** `serving` if searches read this copy. */
    public role: CopyRole,
  ) {
    this.indexer = new ProjectIndexer(id, context, this);
    this.indexer.open();
  }

  async exclusively(step: () => Promise<void>): Promise<void> {
    try {
      await this.context.projects(() =>
        this.#serial(async () => {
          const store = () => this.#store?.then((opened) => opened.settled());
          try {
            await step();
            await store();
          } catch (error) {
            // The next attempt does not overlap with this one, and opens the tables again to find partial rows.
            await store()?.catch(() => {});
            this.#store = undefined;
            throw error;
          }
        }),
      );
    } catch (error) {
      if (!(error instanceof LostLeadership)) throw error;
      this.context.lost();
      throw new IndexingEnded();
    }
  }

  /** Runs work that must not overlap with steps. Skips it if the project was closed or does not have tables. */
  maintain<T>(work: (store: ProjectStore) => Promise<T>): Promise<T | undefined> {
    return this.#serial(async () => {
      if (this.#closed || !(await this.#isStored())) return undefined;
      return await work(await this.#opened());
    });
  }

  /** Stops after the current step. Resolves when all work on the project has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.indexer.close();
    await this.#serial(async () => {});
  }

  async unknown(versions: readonly string[], scopeId?: string): Promise<string[]> {
    const { changes, sql } = this.context;
    // Announced versions may belong to a deleted project, which must not get tables again.
    if (scopeId === undefined && (await changes.scopesOf(this.id)) === null) return [];
    const store = await this.#settled();
    let added = versions;
    if (scopeId !== undefined) {
      const change = await changeOf(sql, store, scopeId, versions);
      this.#changes.set(scopeId, change);
      ({ added } = change);
    }
    const unknown = await store.unknown(added);
    this.#unknown = unknown;
    return unknown;
  }

  limited<T>(_isBulk: boolean, work: () => Promise<T>): Promise<T> {
    return work();
  }

  async add(versions: readonly string[]): Promise<void> {
    const { log, reader } = this.context;
    const store = await this.#opened();
    const counts = new VersionCounts();
    // A scope that preempted this one may have added some of them.
    const unknown = await store.unknown(versions);
    store.prepare(unknown);
    const sample = (dimension: number) => drawVectors(reader, this.#unknown, dimension);
    for (const chunk of await store.addChunks(reader.chunks(unknown), counts, sample)) {
      log.warn({ chunk }, "a chunk's embedding is all zeros or not finite");
    }
    // Codes are given immediately, because rows that are added without a code are written twice.
    if (!store.isCoded) {
      await store.settled();
      await giveCodes(this.context.sql, store);
    }
    store.addVersions(counts);
    this.context.changed(this.id);
  }

  /** Scopes already hold the versions, so they are added again immediately. */
  async readAgain(versions: readonly string[]): Promise<void> {
    if (!(await this.#isStored())) return;
    const store = await this.#settled();
    const unknown = new Set(await store.unknown(versions));
    const known = versions.filter((version) => !unknown.has(version));
    if (known.length === 0) return;
    await store.removeVersions(known);
    await this.add(known);
  }

  async setScope(scopeId: string, versions: readonly string[]): Promise<void> {
    const change = this.#changes.get(scopeId) as ScopeChange;
    this.#changes.delete(scopeId);
    const size = new Set(versions).size;
    await replaceScope(this.context.sql, await this.#settled(), scopeId, size, change);
    this.context.changed(this.id);
  }

  async dropScope(scopeId: string): Promise<void> {
    // Deleting a project deletes its scopes, too, and must not create its tables again.
    if (!(await this.#isStored())) return;
    await dropScope(await this.#opened(), scopeId);
    this.context.changed(this.id);
  }

  #isStored(): Promise<boolean> {
    return isStored(this.context.sql, this.id, this.role);
  }

  /** The tables, after all that was added is stored. */
  async #settled(): Promise<ProjectStore> {
    const store = await this.#opened();
    await store.settled();
    return store;
  }

  #opened(): Promise<ProjectStore> {
    const opening = this.#store ?? this.context.openProject(this.id, this.role);
    this.#store = opening;
    // After a failure the next step tries again.
    opening.catch(() => {
      this.#store = undefined;
    });
    return opening;
  }
}

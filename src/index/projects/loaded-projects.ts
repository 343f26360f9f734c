import pLimit from "p-limit";
import { INDEX_RETRY_BASE_MS, INDEX_RETRY_MAX_MS } from "../../domain/limits.ts";
import { baseOf } from "../../domain/scope.ts";
import { retryUntilSuccess } from "../../ops/retry.ts";
import type { IndexPart, MaintenanceState, Members } from "../versions/version-index.ts";
import { AnnouncedVersions } from "./announced-versions.ts";
import type { Derived, WantedScope } from "./derived-scopes.ts";
import { byIdleTime } from "./idle-time.ts";
import { type IndexTotals, totalsOf } from "./index-totals.ts";
import type { IndexingContext } from "./indexing-context.ts";
import { LoadedProject, type LoadOutcome } from "./loaded-project.ts";
import { MemoryBudget } from "./memory-budget.ts";
import type { ProjectIndexer } from "./project-indexer.ts";

const BACKOFF = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_MAX_MS };

interface LoadedProjectsEvents {
  /** Searches may use the project from now on. */
  loaded(projectId: string): void;
  /** Called before the memory of the project is freed. */
  evicted(projectId: string): void;
  /** A project is being loaded, or the result of its `applied` may have changed. */
  progressed?(projectId: string): void;
}

/**
 * The projects that are in memory. A project is loaded from its snapshot and the changes since, or
 * from the database alone. It is saved to its snapshot when it is evicted.
 */
export class LoadedProjects {
  readonly #projects = new Map<string, LoadedProject>();
  /** Projects that are being dropped. Loading one of them again waits for that. */
  readonly #dropping = new Map<string, Promise<void>>();
  readonly #prefetches = pLimit(1);
  /** Projects that wait to be loaded in the background, with the versions announced meanwhile. */
  readonly #prefetching = new Map<string, AnnouncedVersions>();
  readonly #budget: MemoryBudget;

  /** @param memoryBytes memory budget of the projects */
  constructor(
    private readonly context: IndexingContext,
    private readonly events: LoadedProjectsEvents,
    memoryBytes: number,
  ) {
    this.#budget = new MemoryBudget(memoryBytes, {
      bytes: () => this.totals().bytes,
      count: () => this.ready().length,
      evict: (now, loadedBefore, idleMs) => this.#evict(now, loadedBefore, idleMs),
    });
  }

  ids(): string[] {
    return [...this.#projects.keys()];
  }

  /** Projects that searches may use. */
  ready(): ProjectIndexer[] {
    return [...this.#projects.values()].filter((p) => p.ready).map((p) => p.indexer);
  }

  /** True once searches may use the project. */
  isReady(projectId: string): boolean {
    return this.#projects.get(projectId)?.ready === true;
  }

  /**
   * The last change up to which searches of a project see all: the last one that the projects have received, or the one
   * before the oldest pending change. A project that is being loaded shows none; one that is not in memory is read from
   * the database.
   */
  applied(projectId: string): number {
    const { seq } = this.context.anchor();
    const project = this.#projects.get(projectId);
    if (project === undefined) return seq;
    return project.ready ? project.indexer.applied(seq) : -1;
  }

  /** Projects in memory or on their way there. */
  indexers(): ProjectIndexer[] {
    return [...this.#projects.values()].map((project) => project.indexer);
  }

  /** The indexer of a project that is in memory or being loaded. */
  indexer(projectId: string): ProjectIndexer | undefined {
    return this.#projects.get(projectId)?.indexer;
  }

  /** Loads a project in the background, so that its first search does not wait for that. */
  prefetch(projectId: string, mayLoad: () => boolean): void {
    if (this.#projects.has(projectId) || this.#prefetching.has(projectId)) return;
    const announced = new AnnouncedVersions();
    this.#prefetching.set(projectId, announced);
    void this.#prefetches(async () => {
      if (mayLoad()) await this.loadOrPass(projectId);
      this.#prefetching.delete(projectId);
      this.announce(projectId, announced.take(announced.size));
    });
  }

  /** Adds stored file versions to a project in memory, or soon to be, before a scope holds them. */
  announce(projectId: string, versions: readonly string[]): void {
    const project = this.#projects.get(projectId);
    if (project !== undefined) project.indexer.announce(versions);
    else this.#prefetching.get(projectId)?.add(versions);
  }

  /** Notes that projects were searched recently, each with the derived scopes that were. */
  used(searched: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const [id, derivedScopes] of searched) {
      this.#projects.get(id)?.used(derivedScopes);
    }
  }

  /** Loads a project without a request. If it keeps failing, its retries continue while the next project loads. */
  async loadOrPass(projectId: string): Promise<void> {
    void this.load(projectId);
    await this.#projects.get(projectId)?.loadedOrStuck;
  }

  /** Loads a project, for a tenant if a request needs it. */
  async load(projectId: string, tenant?: string): Promise<LoadOutcome> {
    const known = this.#projects.get(projectId);
    const progressed = () => this.events.progressed?.(projectId);
    const project = known ?? new LoadedProject(projectId, this.context, progressed);
    if (tenant !== undefined) project.tenant = tenant;
    if (known !== undefined) return await known.loading;
    this.#projects.set(projectId, project);
    progressed();
    project.finishLoading(await this.#load(project));
    return await project.loading;
  }

  /**
   * Loads a project, indexes the scope unless all indexes have it, and derives the part that its filter
   * matches for these indexes. False if project or scope is missing.
   */
  async ensure(wanted: WantedScope): Promise<Derived> {
    const { projectId, tenant } = wanted;
    const base = baseOf(wanted.scope);
    for (;;) {
      const outcome = await this.load(projectId, tenant);
      if (outcome === "missing") return false;
      const project = this.#projects.get(projectId);
      // The project was evicted or rebuilt meanwhile, so the scope may still exist.
      if (outcome === "dropped" || project?.ready !== true) continue;
      const hasBase = () => project.indexes.hasScope(base.id);
      if (!hasBase()) await project.indexer.reindex(base, this.context.anchor().seq);
      const derived = hasBase() && (await project.derived.ensure(wanted));
      if (derived !== false || this.#isCurrent(project)) return derived;
    }
  }

  /** The members of a derived scope, or those among some versions; undefined unless they are up to date. */
  membersOf(projectId: string, scopeId: string, among?: readonly string[]): Members | undefined {
    return this.#projects.get(projectId)?.derived.membersOf(scopeId, among);
  }

  /**
   * Indexes every scope again after a fail-over has lost changes, which no search shows from then on. Resolves when all
   * are queued; rejects when they cannot be read.
   */
  async reindexAll(): Promise<void> {
    for (const id of this.ids()) {
      const scopes = await this.context.changes.scopesOf(id);
      if (scopes === null) await this.remove(id);
      for (const scope of scopes ?? []) this.indexer(id)?.mark(scope, 0);
    }
  }

  /**
   * Discards the snapshot of a project and, if it is in memory, rebuilds it from the database. Meanwhile the project
   * counts as loaded, because a project that is not loaded counts as up to date.
   */
  async rebuild(projectId: string): Promise<void> {
    const wasLoaded = this.#projects.has(projectId);
    const removed = this.remove(projectId);
    if (wasLoaded) await this.load(projectId);
    await removed;
  }

  /** Does one slice of maintenance of one project, and starts background work. */
  maintain(): MaintenanceState {
    let left: MaintenanceState = "done";
    for (const project of this.#projects.values()) {
      const state = project.ready ? project.maintain() : "done";
      if (state === "more") return state;
      if (state === "busy") left = state;
    }
    return left;
  }

  /** Asks for the calibration of an index to be repeated, as part of its maintenance. */
  recalibrate(projectId: string, dimension: number): void {
    if (this.#projects.get(projectId)?.ready !== true) return;
    for (const index of this.context.indexes) index.recalibrate?.(projectId, dimension);
  }

  /** True while a project has changes that searches do not see yet, or adds announced versions. */
  isIndexing(): boolean {
    return this.indexers().some((each) => each.isBusy || each.oldestPending !== undefined);
  }

  /** Saves the first project for which `due` is true; false if no project is due. */
  async saveOne(due: (changes: number, dirtyMs: number) => boolean): Promise<boolean> {
    const now = performance.now();
    for (const project of this.#projects.values()) {
      const { unsavedChanges } = project.indexer;
      if (!project.ready || unsavedChanges === 0 || !project.canSave(now)) continue;
      if (!due(unsavedChanges, project.dirtyMs(now))) continue;
      await this.#save(project);
      return true;
    }
    return false;
  }

  /** Vectors, those without a graph, and memory of all projects; whether all maintenance is done. */
  totals(): IndexTotals {
    return totalsOf(this.ids().flatMap((id) => this.#partsOf(id)));
  }

  /** Evicts projects until the rest is within the memory that they may use. */
  enforceBudget(): Promise<void> {
    return this.#budget.enforce();
  }

  async #evict(now: number, loadedBefore: number, leastIdleMs: number): Promise<boolean> {
    const occupants = [...this.#projects.values()].map((project) => {
      const { tenant, usedAt } = project;
      return { project, tenant, usedAt, bytes: totalsOf(this.#partsOf(project.id)).bytes };
    });
    const longest = byIdleTime(occupants, now).find(({ project, idleMs }) => {
      return (project.readyAt ?? Number.POSITIVE_INFINITY) < loadedBefore && idleMs > leastIdleMs;
    });
    if (longest === undefined) return false;
    if (longest.project.indexer.unsavedChanges > 0 && longest.project.canSave(performance.now())) {
      await this.#save(longest.project);
    }
    await this.#drop(longest.project.id);
    return true;
  }

  #partsOf(projectId: string): IndexPart[] {
    return this.context.indexes.flatMap((index) => index.stats(projectId));
  }

  /** Retries while the database does not answer, until the project is loaded or was dropped. */
  async #load(project: LoadedProject): Promise<LoadOutcome> {
    const { id } = project;
    await this.#dropping.get(id);
    await this.enforceBudget();
    const attempt = async (): Promise<LoadOutcome> => {
      if (!this.#isCurrent(project)) return "dropped";
      const found = await project.load();
      if (!this.#isCurrent(project)) return "dropped";
      return found ? "loaded" : await this.remove(id).then(() => "missing" as const);
    };
    const { log } = this.context;
    const warn = (err: unknown) => log.warn({ err, project: id }, "loading failed; retrying");
    const outcome = await retryUntilSuccess(attempt, BACKOFF, warn);
    if (outcome !== "loaded") return outcome;
    if (!this.#isCurrent(project)) return "dropped";
    // Loading may have taken long, and the search that requested the project starts only now.
    project.usedAt = project.readyAt = performance.now();
    this.events.loaded(id);
    return outcome;
  }

  /** Drops a project that was deleted from the database, and its snapshot. */
  remove(projectId: string): Promise<void> {
    return this.#drop(projectId, () => this.context.snapshots.discard(projectId));
  }

  /** Frees the memory of a project, and then does the rest, before it can be loaded again. */
  #drop(projectId: string, rest = () => {}): Promise<void> {
    const project = this.#projects.get(projectId);
    const before = this.#dropping.get(projectId);
    if (project === undefined) return Promise.resolve(before).then(rest);
    this.#projects.delete(projectId);
    this.events.evicted(projectId);
    const dropping: Promise<void> = Promise.all([before, project.close()]).then(async () => {
      // A snapshot that is being written still needs the indexes.
      await this.context.snapshots.exclusively(async () => {});
      for (const index of this.context.indexes) index.dropProject(projectId);
      rest();
      if (this.#dropping.get(projectId) === dropping) this.#dropping.delete(projectId);
    });
    this.#dropping.set(projectId, dropping);
    return dropping;
  }

  /** A failure loses nothing but time at the next start, so it is logged. */
  #save(project: LoadedProject): Promise<void> {
    const { log, snapshots } = this.context;
    return snapshots.exclusively(async () => {
      if (!this.#isCurrent(project)) return;
      const failed = (err: unknown) =>
        log.warn({ err, project: project.id }, "cannot save an index snapshot");
      await project.save().catch(failed);
    });
  }

  /** False once the project was dropped. */
  #isCurrent(project: LoadedProject): boolean {
    return this.#projects.get(project.id) === project;
  }
}

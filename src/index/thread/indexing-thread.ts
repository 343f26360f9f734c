import pTimeout from "p-timeout";
import { openDatabase, type Sql } from "../../db/client.ts";
import {
  CHANGE_LOG_PRUNE_INTERVAL_MS,
  INDEX_DB_CONNECTIONS,
  INDEX_HEARTBEAT_INTERVAL_MS,
  INDEX_HOUSEKEEPING_INTERVAL_MS,
  INDEX_REPORT_INTERVAL_MS,
  INDEX_SNAPSHOT_INTERVAL_MS,
  INDEX_SNAPSHOT_MIN_MS,
  INDEX_SNAPSHOT_VERSIONS,
  INDEX_STOP_BUDGET_MS,
  INDEX_STOP_QUERY_TIMEOUT_MS,
} from "../../domain/limits.ts";
import { crashThread, createFailpoints, type FailpointTrigger } from "../../ops/failpoints.ts";
import { createLog } from "../../ops/observability/log.ts";
import { timed } from "../../ops/observability/long-tasks.ts";
import { runPeriodically } from "../../ops/observability/periodic.ts";
import { SingleFlight } from "../../ops/single-flight.ts";
import type { Change } from "../changes/change-log.ts";
import { Follower } from "../changes/follower.ts";
import { IndexReports } from "../changes/index-state.ts";
import { listenForVersions } from "../changes/new-versions.ts";
import { memberLists } from "../fields/member-lists.ts";
import type { IndexingContext } from "../projects/indexing-context.ts";
import { LoadedProjects } from "../projects/loaded-projects.ts";
import { matchVersions } from "../projects/match-versions.ts";
import type { ProjectIndexer } from "../projects/project-indexer.ts";
import { scopeFields } from "../projects/scope-fields.ts";
import { byDimension } from "../versions/by-dimension.ts";
import { maintainWhile } from "./maintenance.ts";
import type { IndexerCommand, IndexerOptions, IndexerProtocol, IndexerReport } from "./messages.ts";
import { openContext, type Post, untilAnswered } from "./open-context.ts";
import { ProgressReporter } from "./progress-reporter.ts";
import { Recalls } from "./recalls.ts";
import { watchLongTasks } from "./watch-long-tasks.ts";

/** Whether to load a project before its first search. */
type MayPreload = (projectId: string) => boolean;

/** Hands a change to its project, and loads that ahead if it may; not a copy, which takes one small request to make. */
function applyTo(
  projects: LoadedProjects,
  mayPreload: MayPreload,
  failpoint: FailpointTrigger,
  { kind, projectId, ref, seq, isCopy }: Change,
): void {
  if (kind === "project") void projects.remove(projectId);
  else if (kind === "rebuild") {
    failpoint("indexing.rebuild");
    void projects.rebuild(projectId);
  } else if (kind === "embedded") projects.indexer(projectId)?.readAgain(ref, seq);
  else {
    projects.indexer(projectId)?.mark({ id: ref, kind }, seq);
    if (!isCopy) projects.prefetch(projectId, () => mayPreload(projectId));
  }
}

/** The report of a project without an index of texts yet. */
const NO_TEXTS = { dimension: 0, entries: 0, maintained: 0, bytes: 0, settled: false };

/** The current work of the indexes. */
type Work = "indexing" | "maintenance" | "none";

function isSnapshotDue(changes: number, dirtyMs: number): boolean {
  const interval =
    changes >= INDEX_SNAPSHOT_VERSIONS ? INDEX_SNAPSHOT_MIN_MS : INDEX_SNAPSHOT_INTERVAL_MS;
  return dirtyMs >= interval;
}

/** Loads projects, follows the change log, and maintains and saves the indexes until it is stopped. */
export class IndexingThread {
  #loading = true;
  #stopping = false;
  #beatAt = 0;
  /** The work in the last written state. */
  #lastWork: Work = "none";
  readonly #reports: IndexReports;
  readonly #recalls = new Recalls();
  /** Writes the state of the indexes, for all who want it at a time. */
  readonly #beats = new SingleFlight(() => this.#beat());

  private constructor(
    private readonly sql: Sql,
    private readonly post: Post,
    private readonly context: IndexingContext,
    readonly projects: LoadedProjects,
    private readonly follower: Follower,
    private readonly mayPreload: MayPreload,
  ) {
    this.#reports = new IndexReports(sql);
  }

  /** Connects to the database, and waits for it if necessary. Nothing is loaded yet. */
  static async open(options: IndexerOptions, post: Post): Promise<IndexingThread> {
    const { memoryBudget, preload } = options;
    const failpoint = createFailpoints(options.failpoints, crashThread);
    const log = createLog(options.logLevel);
    const sql = openDatabase(options.databaseUrl, {
      connections: INDEX_DB_CONNECTIONS,
      applicationName: "tessera-indexer",
      patience: "background",
    });
    const { context, names } = await openContext(options, sql, log, post, () => follower.reached);
    const events = {
      loaded: (projectId: string) => {
        post({ type: "loaded", projectId, nativeName: names.of(projectId) });
        progress.changed(projectId);
      },
      evicted: (projectId: string) => {
        post({ type: "evicted", projectId });
        progress.changed(projectId);
      },
      progressed: (projectId: string) => progress.changed(projectId),
    };
    const projects = new LoadedProjects(context, events, memoryBudget);
    const progress = new ProgressReporter((changed) => {
      const applied = changed.map((id) => [id, projects.applied(id)] as const);
      const { reached, ends } = follower;
      post({ type: "progress", reached: reached.seq, ends, applied });
    });
    const mayPreload = (projectId: string) => {
      const wanted = preload === "all" || (preload === "own" && context.snapshots.has(projectId));
      return wanted && projects.totals().bytes < memoryBudget;
    };
    const follower: Follower = await untilAnswered(log, "the change log", () =>
      Follower.start(sql, log, context.changes, {
        apply: (change) => applyTo(projects, mayPreload, failpoint, change),
        missed: () => projects.reindexAll(),
        reached: () => progress.changed(),
      }),
    );
    progress.changed();
    return new IndexingThread(sql, post, context, projects, follower, mayPreload);
  }

  /** Starts all periodic work and loads the projects; resolves when they are loaded. */
  async start(): Promise<void> {
    const { changes, log } = this.context;
    setInterval(() => timed("report", () => this.#report()), INDEX_REPORT_INTERVAL_MS);
    if (log.isLevelEnabled("debug")) watchLongTasks(log);
    this.#every(INDEX_HOUSEKEEPING_INTERVAL_MS, "saving snapshots", () => this.#housekeep());
    this.#every(INDEX_HOUSEKEEPING_INTERVAL_MS, "the heartbeat", () => this.#beatIfDue());
    this.#every(CHANGE_LOG_PRUNE_INTERVAL_MS, "pruning the change log", () => changes.prune());
    listenForVersions(this.sql, log, (projectId, versions) => {
      this.projects.prefetch(projectId, () => this.mayPreload(projectId));
      this.projects.announce(projectId, versions);
    });
    void maintainWhile(() => !this.#stopping, this.projects);
    await this.#loadAll();
    this.#report();
    // `index status` shows the indexes as soon as they are loaded.
    await this.#beatNow();
  }

  #beatNow(): Promise<void> {
    const { log } = this.context;
    return this.#beats.run().catch((err: unknown) => log.warn({ err }, "the heartbeat failed"));
  }

  run(task: IndexerProtocol["task"]): Promise<IndexerProtocol["result"]> {
    const { projectId } = task;
    if (task.type === "ensure") return this.projects.ensure(task);
    if (task.type === "members") {
      const members = this.projects.membersOf(projectId, task.scopeId, task.among);
      const table = this.context.fields.find(projectId)?.table;
      if (members === undefined || table === undefined) return Promise.resolve(null);
      return Promise.resolve(memberLists(table, members));
    }
    if (task.type === "fields") return scopeFields(this.context, task);
    return matchVersions(this.context, task).catch((err: unknown) => {
      this.context.log.warn({ err, project: projectId }, "cannot read the fields of file versions");
      return null;
    });
  }

  receive(command: IndexerCommand): void {
    if (command.type === "used") this.projects.used(command.searched);
    else if (command.type === "recall") this.#recalls.note(command);
    else if (command.type === "report-requested") {
      this.#reports.answer(command.at);
      // Nobody waits for a server before its first report.
      if (!this.#loading) void this.#beatNow();
    } else this.projects.recalibrate(command.projectId, command.dimension);
  }

  /** Preloads projects, recently changed ones first. */
  async #loadAll(): Promise<void> {
    const { changes, log, snapshots } = this.context;
    const changed = await untilAnswered(log, "the change log", () => changes.changedProjects());
    for (const id of new Set([...changed, ...snapshots.projects()])) {
      if (this.#stopping) break;
      if (this.mayPreload(id)) await this.projects.loadOrPass(id);
    }
    this.#loading = false;
  }

  #report(): void {
    const { projects, follower } = this;
    const { seq } = follower.reached;
    const lag = Math.max(0, ...projects.ready().map((project) => seq - project.applied(seq)));
    const behind = this.#behind();
    const { settled, ...totals } = projects.totals();
    const complete = behind === null && settled && !projects.isIndexing();
    const report = { behind, lag, complete, projects: projects.ids().length, ...totals };
    this.post({ type: "report", report });
  }

  #behind(): IndexerReport["behind"] {
    if (this.follower.failing) return "the change log cannot be read";
    return this.#loading ? "the indexes are being loaded" : null;
  }

  /** Saves a project that is due, and frees memory when the budget is exceeded. */
  async #housekeep(): Promise<void> {
    await this.projects.saveOne(isSnapshotDue);
    if (!this.#stopping) await this.projects.enforceBudget();
  }

  get #work(): Work {
    if (this.projects.isIndexing()) return "indexing";
    return this.projects.totals().settled ? "none" : "maintenance";
  }

  /** More often while changes wait, because imports keep pace with the state, and once more when maintenance ends. */
  async #beatIfDue(): Promise<void> {
    const work = this.#work;
    const age = performance.now() - this.#beatAt;
    const isDue = age >= INDEX_HEARTBEAT_INTERVAL_MS;
    if (work === "indexing" || work !== this.#lastWork || isDue) await this.#beats.run();
  }

  async #beat(): Promise<void> {
    this.#beatAt = performance.now();
    this.#lastWork = this.#work;
    const reports = this.projects.indexers().flatMap((indexer) => this.#reportsOf(indexer));
    await this.#reports.write(reports, this.follower.reached.seq);
    this.#recalls.keep(new Set(this.projects.ids()));
  }

  /** The reports to other processes about the indexes of a project. */
  #reportsOf(indexer: ProjectIndexer) {
    const { id: projectId, announcedMs, isBusy } = indexer;
    const seq = this.projects.applied(projectId);
    const waitingMs = Math.round(announcedMs);
    const isIdle = this.projects.isReady(projectId) && !isBusy;
    const stats = this.context.indexes.flatMap((index) => index.stats(projectId));
    // A project that is being loaded is reported as well, because a search would wait for it.
    return byDimension(stats.length === 0 ? [NO_TEXTS] : stats).map(
      ({ dimension, entries, maintained, bytes, settled }) => ({
        projectId,
        dimension,
        seq,
        waitingMs,
        bytes,
        settled: settled && isIdle,
        ...(dimension === 0
          ? { vectors: 0, graphed: 0, documents: entries }
          : { vectors: entries, graphed: maintained, documents: 0 }),
        ...this.#recalls.of(projectId, dimension),
      }),
    );
  }

  #every(intervalMs: number, task: string, work: () => Promise<unknown>): void {
    const isStopping = () => this.#stopping;
    runPeriodically({ task, intervalMs, log: this.context.log, isStopping }, work);
  }

  /** Saves as many projects as the time allows, then closes the database. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.follower.stop();
    const deadline = performance.now() + INDEX_STOP_BUDGET_MS;
    while (performance.now() < deadline && (await this.projects.saveOne(() => true)));
    const limit = { milliseconds: INDEX_STOP_QUERY_TIMEOUT_MS, message: false } as const;
    await pTimeout(
      this.#reports.clear().catch(() => {}),
      limit,
    );
    await pTimeout(this.sql.end({ timeout: 1 }), limit);
  }
}

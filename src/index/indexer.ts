import { parseJson } from "../domain/json/parse.ts";
import {
  INDEX_REPORT_INTERVAL_MS,
  INDEX_RESTART_DELAY_MS,
  INDEX_STOP_TIMEOUT_MS,
} from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { Scope, ScopeRef } from "../domain/scope.ts";
import type { Log } from "../ops/observability/log.ts";
import { SupervisedThread } from "../ops/threads/supervised-thread.ts";
import { AppliedChanges } from "./changes/applied-changes.ts";
import type { FieldSummary } from "./fields/field-summary.ts";
import { FILTER_LATE } from "./fields/field-work.ts";
import type { MemberLists } from "./fields/member-lists.ts";
import { LoadQueue } from "./load-queue.ts";
import { claimInstanceDirectory, type InstanceDirectory } from "./snapshots/instance-directory.ts";
import type {
  IndexerEvent,
  IndexerOptions,
  IndexerProtocol,
  IndexerReport,
  IndexRecall,
} from "./thread/messages.ts";
import { type ProjectLoader, whenLoaded } from "./when-loaded.ts";

/** For how long a project is left alone after a task of it has failed. */
const INDEX_PARKED_MS = 10_000;
const PARKED = {
  detail: "The project's index cannot be used at present. The log of the service says why.",
  headers: { "retry-after": String(INDEX_PARKED_MS / 1_000) },
} as const;

const FIELDS_LATE = {
  detail:
    "The values of the fields were not counted in time, because others of yours are being counted. Ask again.",
  headers: { "retry-after": "1" },
} as const;

/** Each costs next to nothing while it waits for its turn in the thread. */
const FILTERS_AT_ONCE = { atOnce: 1_024, tenantLoads: 256 } as const;

const STARTING: IndexerReport = {
  behind: "the indexer is starting",
  lag: 0,
  projects: 0,
  vectors: 0,
  backlog: 0,
  bytes: 0,
  complete: false,
};

/** Numbers of the indexers in this process. */
const instances = new Set<number>();

function claimInstance(): number {
  let instance = 0;
  while (instances.has(instance)) instance++;
  instances.add(instance);
  return instance;
}

/** Receives the values that an index publishes. */
interface Subscriber {
  receive(message: unknown): void;
  /** The thread has ended. The values that the next one publishes replace the current ones. */
  clear(): void;
}

/** The main thread's side of the indexing thread. Knows which projects are loaded, and requests others. */
export class Indexer {
  #report: IndexerReport = STARTING;
  /** The native names of the projects that searches may use. */
  readonly #loaded = new Map<string, string>();
  /** Projects that were searched, with the derived scopes. */
  readonly #used = new Map<string, Set<string>>();
  readonly #loads = new LoadQueue();
  /** Filters of loaded projects, whose evaluations take turns by user in the thread. */
  readonly #filters = new LoadQueue(undefined, undefined, FILTERS_AT_ONCE);
  /** Until when the tasks of a project are refused that has failed. */
  readonly #parked = new Map<string, number>();
  readonly #subscribers = new Map<string, Subscriber>();
  /** The changes in the indexes. */
  readonly applied = new AppliedChanges((projectId) => this.isLoaded(projectId));
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #thread: SupervisedThread<IndexerProtocol>;
  readonly #instance: number;
  readonly #directory: InstanceDirectory;

  constructor(
    dataDir: string,
    options: Omit<IndexerOptions, "instance" | "snapshotRoot">,
    private readonly log: Log,
    /** Called when a task of a project is parked. */
    private readonly onParked: (projectId: string, task: string) => void = () => {},
  ) {
    // Claimed here and not in the thread, so that a restarted thread finds its snapshots.
    this.#directory = claimInstanceDirectory(dataDir);
    this.#instance = claimInstance();
    const own = { snapshotRoot: this.#directory.path, instance: this.#instance };
    this.#thread = new SupervisedThread({
      entry: new URL("./thread/thread.ts", import.meta.url),
      name: "tessera-indexer",
      options: { ...options, ...own },
      restartMs: INDEX_RESTART_DELAY_MS,
      receive: (event) => this.#receive(event),
      crashed: (err) => this.#crashed(err),
    });
    this.#timer = setInterval(() => this.#sendUsed(), INDEX_REPORT_INTERVAL_MS);
    this.#timer.unref();
  }

  /** The name of a project in the native registry; undefined while it is not loaded. */
  nativeName(projectId: string): string | undefined {
    return this.#loaded.get(projectId);
  }

  isLoaded(projectId: string): boolean {
    return this.#loaded.has(projectId);
  }

  used({ projectId, id, filter }: Scope): void {
    const derived = this.#used.get(projectId) ?? new Set();
    this.#used.set(projectId, derived);
    if (filter !== undefined) derived.add(id);
  }

  /** Loads projects for searches of these indexes, such as `text`. */
  loaderFor(...indexes: readonly string[]): ProjectLoader {
    return {
      isLoaded: (projectId) => this.isLoaded(projectId),
      used: (scope) => this.used(scope),
      ensureWithin: (scope, timeoutMs) => this.#ensureWithin(indexes, scope, timeoutMs),
    };
  }

  #ensureWithin(
    indexes: readonly string[],
    scope: Scope,
    timeoutMs: number,
  ): Promise<boolean | undefined> {
    const { projectId, id, kind, filter } = scope;
    const ref: ScopeRef = filter === undefined ? { id, kind } : { id, kind, filter };
    const task = { type: "ensure", projectId, scope: ref, indexes } as const;
    const begin = async (tenant: string) => {
      const result = await this.#run({ ...task, tenant });
      if (result === "late") throw new Problem("overloaded", FILTER_LATE);
      return result === true;
    };
    // Many searches of a scope wait for one request.
    const key =
      filter === undefined ? `${projectId} ${id}` : `${projectId} ${id} ${indexes.join(" ")}`;
    const queue = filter !== undefined && this.isLoaded(projectId) ? this.#filters : this.#loads;
    return queue.wait(scope.tenant, key, begin, timeoutMs);
  }

  /** Runs a task of a project. A failure parks the project: for a while its tasks fail immediately. */
  async #run(task: IndexerProtocol["task"]): Promise<IndexerProtocol["result"]> {
    const { projectId: project, type } = task;
    for (const [id, until] of this.#parked) {
      if (until <= performance.now()) this.#parked.delete(id);
    }
    if (this.#parked.has(project)) throw new Problem("dependency-unavailable", PARKED);
    try {
      return await this.#thread.run(task);
    } catch (err) {
      this.log.error(
        { err, project, task: type },
        "a task of the index failed twice; it is parked",
      );
      this.#parked.set(project, performance.now() + INDEX_PARKED_MS);
      this.onParked(project, type);
      throw new Problem("dependency-unavailable", { ...PARKED, cause: err });
    }
  }

  /** For each file version 1 if the filter of the derived scope matches it, else 0. */
  async matching(
    { projectId, tenant, filter }: Scope,
    versionIds: readonly string[],
  ): Promise<Uint8Array> {
    const { json } = filter as NonNullable<Scope["filter"]>;
    const matched = await this.#run({ type: "match", projectId, tenant, filter: json, versionIds });
    if (matched === "late") throw new Problem("overloaded", FILTER_LATE);
    if (matched instanceof Uint8Array) return matched;
    throw new Problem("dependency-unavailable");
  }

  /** The members of a derived scope, or those among some versions. Throws and waits as `whenLoaded` does. */
  members(scope: Scope, among?: readonly string[]): Promise<MemberLists> {
    const { projectId, id: scopeId } = scope;
    this.used(scope);
    return whenLoaded(this.loaderFor("fields"), scope, async () => {
      const members = await this.#run({ type: "members", projectId, scopeId, among });
      const isThere = typeof members === "object" && members !== null && "sizes" in members;
      return isThere ? members : undefined;
    });
  }

  /** The summaries of the fields of a scope's files. Throws and waits as `whenLoaded` does. */
  fields(scope: Scope): Promise<readonly FieldSummary[]> {
    const { projectId, tenant, id: scopeId } = scope;
    this.used(scope);
    return whenLoaded(this.loaderFor("fields"), scope, async () => {
      const fields = await this.#run({ type: "fields", projectId, tenant, scopeId });
      if (fields === "late") throw new Problem("overloaded", FIELDS_LATE);
      return typeof fields === "string" ? (parseJson(fields) as FieldSummary[]) : undefined;
    });
  }

  /** Loads that requests wait for. */
  get pendingLoads(): number {
    return this.#loads.length + this.#filters.length;
  }

  /** Subscribes to the values that the index of this name publishes. Each index has one subscriber. */
  subscribe(index: string, subscriber: Subscriber): void {
    this.#subscribers.set(index, subscriber);
  }

  get report(): IndexerReport {
    return this.#report;
  }

  /** Notes the recall of live searches, for `index status`. */
  reportRecall(recall: IndexRecall): void {
    this.#thread.tell({ type: "recall", ...recall });
  }

  /** Lets the thread write a report for a process that has requested it at this time, in seconds since 1970. */
  answerReportRequest(at: number): void {
    this.#thread.tell({ type: "report-requested", at });
  }

  /** Asks for an index to be calibrated again in the background. */
  recalibrate(projectId: string, dimension: number): void {
    this.#thread.tell({ type: "recalibrate", projectId, dimension });
  }

  /** Saves snapshots and ends the thread, within INDEX_STOP_TIMEOUT_MS. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.drain(INDEX_STOP_TIMEOUT_MS);
    instances.delete(this.#instance);
    this.#directory.release();
  }

  #crashed(err: Error): void {
    this.log.error({ err }, "the indexing thread ended; restarting it");
    this.#loaded.clear();
    this.applied.clear();
    for (const subscriber of this.#subscribers.values()) subscriber.clear();
    this.#report = STARTING;
  }

  #receive(event: IndexerEvent): void {
    switch (event.type) {
      case "loaded":
        this.#loaded.set(event.projectId, event.nativeName);
        break;
      case "evicted":
        this.#loaded.delete(event.projectId);
        break;
      case "progress":
        this.applied.receive(event);
        break;
      case "report":
        this.#report = event.report;
        break;
      case "published":
        this.#subscribers.get(event.index)?.receive(event.message);
        break;
    }
  }

  /** Tells the thread which projects were searched, so that it keeps them in memory. */
  #sendUsed(): void {
    if (this.#used.size === 0) return;
    this.#thread.tell({ type: "used", searched: new Map(this.#used) });
    this.#used.clear();
  }
}

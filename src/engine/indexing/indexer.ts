import { Worker } from "node:worker_threads";
import pTimeout from "p-timeout";
import type { Log } from "../../observability/log.ts";
import {
  INDEX_REPORT_INTERVAL_MS,
  INDEX_RESTART_DELAY_MS,
  INDEX_STOP_TIMEOUT_MS,
} from "../../shared/limits.ts";
import type { Scope } from "../requests/scope.ts";
import type { ProjectLoader } from "../requests/when-loaded.ts";
import { LoadQueue } from "./load-queue.ts";
import { claimInstanceDirectory, type InstanceDirectory } from "./snapshots/instance-directory.ts";
import type {
  FromIndexer,
  IndexerOptions,
  IndexerReport,
  IndexRecall,
  ToIndexer,
} from "./thread/messages.ts";

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

/** Keeps what an index publishes. */
interface Subscriber {
  receive(message: unknown): void;
  /** The thread has ended: what it published is replaced by what the next one publishes. */
  clear(): void;
}

/**
 * The main thread's side of the indexing thread. Knows which projects are loaded, requests others,
 * and restarts the thread when it dies.
 */
export class Indexer implements ProjectLoader {
  #worker: Worker | undefined;
  #report: IndexerReport = STARTING;
  #closing = false;
  #ticket = 0;
  /** The native names of the projects that searches may use. */
  readonly #loaded = new Map<string, string>();
  readonly #used = new Set<string>();
  readonly #waiting = new Map<number, { request: ToIndexer; answer: (found: boolean) => void }>();
  readonly #loads = new LoadQueue();
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #options: IndexerOptions;
  readonly #directory: InstanceDirectory;

  constructor(
    dataDir: string,
    options: Omit<IndexerOptions, "instance" | "snapshotRoot">,
    private readonly log: Log,
  ) {
    // Claimed here and not in the thread, so that a restarted thread finds its snapshots.
    this.#directory = claimInstanceDirectory(dataDir);
    const snapshotRoot = this.#directory.path;
    this.#options = { ...options, snapshotRoot, instance: claimInstance() };
    this.#start();
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

  used(projectId: string): void {
    this.#used.add(projectId);
  }

  ensureWithin(scope: Scope, timeoutMs: number): Promise<boolean | undefined> {
    const begin = (tenant: string) => this.#ensure(scope, tenant);
    // Many searches of a scope wait for one request.
    return this.#loads.wait(scope.tenant, `${scope.projectId} ${scope.id}`, begin, timeoutMs);
  }

  /** Loads that requests wait for. */
  get pendingLoads(): number {
    return this.#loads.length;
  }

  /** Receives what the index of this name publishes. Each index has one subscriber. */
  subscribe(index: string, subscriber: Subscriber): void {
    this.#subscribers.set(index, subscriber);
  }

  get report(): IndexerReport {
    return this.#report;
  }

  /** Notes the recall of live searches, for `index status`. */
  reportRecall(recall: IndexRecall): void {
    this.#send({ type: "recall", ...recall });
  }

  /** Asks for an index to be calibrated again in the background. */
  recalibrate(projectId: string, dimension: number): void {
    this.#send({ type: "recalibrate", projectId, dimension });
  }

  /** Saves snapshots and ends the thread, within INDEX_STOP_TIMEOUT_MS. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    this.#send({ type: "stop" });
    // Between the end of a thread and the start of the next one there is nothing to wait for.
    if (this.#worker === undefined) this.#stopped.resolve();
    await pTimeout(this.#stopped.promise, { milliseconds: INDEX_STOP_TIMEOUT_MS, message: false });
    await this.#worker?.terminate();
    instances.delete(this.#options.instance);
    this.#directory.release();
  }

  /** Loads a project and indexes a scope if necessary; false when there is no such scope. */
  #ensure({ projectId, id, kind }: Scope, tenant: string): Promise<boolean> {
    const { promise, resolve: answer } = Promise.withResolvers<boolean>();
    const ticket = ++this.#ticket;
    const request: ToIndexer = { type: "ensure", ticket, projectId, scope: { id, kind }, tenant };
    this.#waiting.set(ticket, { request, answer });
    this.#send(request);
    return promise;
  }

  #start(): void {
    const worker = new Worker(new URL("./thread/thread.ts", import.meta.url), {
      workerData: this.#options,
      name: "tessera-indexer",
    });
    this.#worker = worker;
    let ended = false;
    const end = (err?: unknown) => {
      if (ended) return;
      ended = true;
      this.#ended(err);
    };
    worker.on("message", (message: FromIndexer) => this.#receive(message));
    worker.on("error", end);
    worker.on("exit", () => end());
    // Requests that the previous thread did not answer.
    for (const { request } of this.#waiting.values()) worker.postMessage(request);
  }

  #ended(err: unknown): void {
    this.#worker = undefined;
    if (this.#closing) {
      this.#stopped.resolve();
      return;
    }
    this.log.error({ err }, "the indexing thread ended; restarting it");
    this.#loaded.clear();
    for (const subscriber of this.#subscribers.values()) subscriber.clear();
    this.#report = STARTING;
    setTimeout(() => {
      if (!this.#closing) this.#start();
    }, INDEX_RESTART_DELAY_MS);
  }

  #send(message: ToIndexer): void {
    this.#worker?.postMessage(message);
  }

  #receive(message: FromIndexer): void {
    switch (message.type) {
      case "loaded":
        this.#loaded.set(message.projectId, message.nativeName);
        break;
      case "evicted":
        this.#loaded.delete(message.projectId);
        break;
      case "ensured":
        this.#waiting.get(message.ticket)?.answer(message.found);
        this.#waiting.delete(message.ticket);
        break;
      case "report":
        this.#report = message.report;
        break;
      case "published":
        this.#subscribers.get(message.index)?.receive(message.message);
        break;
      case "stopped":
        this.#stopped.resolve();
        break;
    }
  }

  /** Tells the thread which projects were searched, so that it keeps them in memory. */
  #sendUsed(): void {
    if (this.#used.size === 0) return;
    this.#send({ type: "used", projectIds: [...this.#used] });
    this.#used.clear();
  }
}

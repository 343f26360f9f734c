import { Worker } from "node:worker_threads";
import type { Log } from "../observability/log.ts";
import {
  INDEX_REPORT_INTERVAL_MS,
  INDEX_RESTART_DELAY_MS,
  INDEX_STOP_TIMEOUT_MS,
} from "../shared/limits.ts";
import type { Scope } from "./changes/change-log.ts";
import { claimSlot, type Slot } from "./snapshots/snapshot-store.ts";
import {
  type FromIndexer,
  type IndexerOptions,
  type IndexerReport,
  nativeNameOf,
  type ToIndexer,
} from "./thread/messages.ts";

const STARTING: IndexerReport = {
  behind: "the indexer is starting",
  lag: 0,
  projects: 0,
  vectors: 0,
  bytes: 0,
};

/** Numbers of the indexers that this process runs. */
const instances = new Set<number>();

function claimInstance(): number {
  let instance = 0;
  while (instances.has(instance)) instance++;
  instances.add(instance);
  return instance;
}

export type Subscriber = (message: unknown) => void;

/**
 * The main thread's side of the indexing thread. Knows which projects searches may use, asks for
 * others, and starts the thread again when it dies.
 */
export class Indexer {
  #worker: Worker | undefined;
  #report: IndexerReport = STARTING;
  #closing = false;
  #ticket = 0;
  readonly #resident = new Set<string>();
  readonly #used = new Set<string>();
  readonly #waiting = new Map<number, { ask: ToIndexer; answer: (found: boolean) => void }>();
  /** What is being asked for, so that many searches ask once. */
  readonly #asked = new Map<string, Promise<boolean>>();
  readonly #subscribers = new Map<string, Subscriber>();
  readonly #timer: ReturnType<typeof setInterval>;
  #stopped = () => {};

  readonly #options: IndexerOptions;
  readonly #slot: Slot;

  constructor(
    dataDir: string,
    options: Omit<IndexerOptions, "instance" | "snapshotRoot">,
    private readonly log: Log,
  ) {
    // Held here and not in the thread, so that a thread started again finds its snapshots.
    this.#slot = claimSlot(dataDir);
    const snapshotRoot = this.#slot.root;
    this.#options = { ...options, snapshotRoot, instance: claimInstance() };
    this.#start();
    this.#timer = setInterval(() => this.#tellUsed(), INDEX_REPORT_INTERVAL_MS);
    this.#timer.unref();
  }

  /** How the native module calls a project. */
  nativeName(projectId: string): string {
    return nativeNameOf(this.#options.instance, projectId);
  }

  /** True when searches of this project see every change within the promised time. */
  isLoaded(projectId: string): boolean {
    return this.#resident.has(projectId);
  }

  /** Notes that a project was searched, which keeps it in memory. */
  used(projectId: string): void {
    this.#used.add(projectId);
  }

  /**
   * Loads a project and reads a scope where that is missing; false when there is no such scope.
   * Waits for as long as it takes, so callers bound their patience themselves.
   */
  ensure(projectId: string, scope: Scope): Promise<boolean> {
    const key = `${projectId} ${scope.id}`;
    const running = this.#asked.get(key);
    if (running !== undefined) return running;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const ticket = ++this.#ticket;
    this.#asked.set(key, promise);
    const ask: ToIndexer = { type: "ensure", ticket, projectId, scope };
    const answer = (found: boolean) => {
      this.#asked.delete(key);
      resolve(found);
    };
    this.#waiting.set(ticket, { ask, answer });
    this.#send(ask);
    return promise;
  }

  /** As `ensure`, but undefined when it takes longer than `timeoutMs`. */
  async ensureWithin(
    projectId: string,
    scope: Scope,
    timeoutMs: number,
  ): Promise<boolean | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, timeoutMs, undefined);
    try {
      return await Promise.race([this.ensure(projectId, scope), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Receives what the index of this name publishes; one subscriber an index. */
  subscribe(index: string, subscriber: Subscriber): void {
    this.#subscribers.set(index, subscriber);
  }

  get report(): IndexerReport {
    return this.#report;
  }

  /** Writes snapshots and ends the thread, within INDEX_STOP_TIMEOUT_MS. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    const stopped = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    this.#send({ type: "stop" });
    await Promise.race([stopped, Bun.sleep(INDEX_STOP_TIMEOUT_MS)]);
    await this.#worker?.terminate();
    instances.delete(this.#options.instance);
    this.#slot.release();
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
    // What the thread before this one left unanswered.
    for (const { ask } of this.#waiting.values()) worker.postMessage(ask);
  }

  #ended(err: unknown): void {
    this.#worker = undefined;
    this.#stopped();
    if (this.#closing) return;
    this.log.error({ err }, "the indexing thread ended; it is started again");
    this.#resident.clear();
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
      case "resident":
        this.#resident.add(message.projectId);
        break;
      case "evicted":
        this.#resident.delete(message.projectId);
        break;
      case "ensured":
        this.#waiting.get(message.ticket)?.answer(message.found);
        this.#waiting.delete(message.ticket);
        break;
      case "report":
        this.#report = message.report;
        break;
      case "published":
        this.#subscribers.get(message.index)?.(message.message);
        break;
      case "stopped":
        this.#stopped();
        break;
    }
  }

  #tellUsed(): void {
    if (this.#used.size === 0) return;
    this.#send({ type: "used", projectIds: [...this.#used] });
    this.#used.clear();
  }
}

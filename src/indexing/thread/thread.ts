import { totalmem } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import pLimit from "p-limit";
import * as native from "../../../native/index.ts";
import { openDatabase } from "../../db/client.ts";
import { createLog } from "../../observability/log.ts";
import { noteStep, step, takeLongSteps } from "../../observability/long-tasks.ts";
import {
  CHANGE_LOG_PRUNE_INTERVAL_MS,
  INDEX_BULK_READERS,
  INDEX_DB_CONNECTIONS,
  INDEX_HEARTBEAT_INTERVAL_MS,
  INDEX_MEMORY_SHARE,
  INDEX_REPORT_INTERVAL_MS,
  INDEX_RETRY_BASE_MS,
  INDEX_SETTLE_REST,
  INDEX_SNAPSHOT_INTERVAL_MS,
  INDEX_SNAPSHOT_VERSIONS,
  INDEX_STOP_BUDGET_MS,
  INDEX_UPKEEP_INTERVAL_MS,
} from "../../shared/limits.ts";
import { type Change, ChangeLog } from "../changes/change-log.ts";
import { Follower } from "../changes/follower.ts";
import { Residency } from "../projects/loaded-projects.ts";
import { SnapshotStore } from "../snapshots/snapshot-store.ts";
import { TextIndex } from "../text/text-index.ts";
import { VectorIndex } from "../vector/vector-index.ts";
import { createVersionReader } from "../versions/reader.ts";
import type { Publish, VersionIndex } from "../versions/version-index.ts";
import { NodeState } from "./index-state.ts";
import {
  type FromIndexer,
  type IndexerOptions,
  type IndexerReport,
  nativeNameOf,
  type ToIndexer,
} from "./messages.ts";

/**
 * The indexing thread: the composition root of everything that follows the change log. It has its
 * own connections and is the only one that changes indexes. It runs at the priority of all others:
 * behind them, a busy machine would keep it from showing changes in time. No step of it takes more
 * than some tens of milliseconds; files are read and written by other threads.
 */
const options = workerData as IndexerOptions;
const port = parentPort as NonNullable<typeof parentPort>;
const post = (message: FromIndexer) => port.postMessage(message);

const log = createLog(options.logLevel);
const sql = openDatabase(options.databaseUrl, {
  connections: INDEX_DB_CONNECTIONS,
  applicationName: "tessera-indexer",
});

/** For indexes that are searched on the main thread: what they publish reaches their subscriber. */
export const publisher =
  (index: string): Publish =>
  (message) =>
    post({ type: "published", index, message });

const nativeName = (projectId: string) => nativeNameOf(options.instance, projectId);
const indexes: VersionIndex[] = [
  new VectorIndex(nativeName, (chunk) =>
    log.warn({ chunk }, "a chunk's embedding is zero or not finite"),
  ),
  new TextIndex(publisher("text")),
];

/** How often the thread looks whether its timers still run. */
const STEP_WATCH_MS = 5;

async function untilAnswered<T>(what: string, query: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await query();
    } catch (err) {
      if (failures === 0) log.warn({ err }, `${what} cannot be read; trying on`);
      await Bun.sleep(INDEX_RETRY_BASE_MS);
    }
  }
}

async function main(): Promise<void> {
  // A thread that crashed before this one may have left projects whose versions nobody knows now.
  for (const name of native.projects()) {
    if (nativeName(name.split("#")[0] as string) === name) native.dropProject(name);
  }

  const snapshots = new SnapshotStore(options.snapshotRoot);
  const changes = new ChangeLog(sql);
  const databaseId = await untilAnswered("the database's identity", () => changes.databaseId());
  const reader = createVersionReader(sql);
  const residency: Residency = new Residency(
    { indexes, changes, reader, bulk: pLimit(INDEX_BULK_READERS), log },
    snapshots,
    databaseId,
    () => follower.reached,
    {
      resident: (projectId) => post({ type: "resident", projectId }),
      evicted: (projectId) => post({ type: "evicted", projectId }),
    },
  );
  const apply = ({ kind, projectId, ref, seq }: Change) => {
    if (kind === "project") void residency.remove(projectId);
    else if (kind === "rebuild") void residency.rebuild(projectId);
    else residency.mark(projectId, { id: ref, kind }, seq);
  };
  const follower: Follower = await untilAnswered("the change log", () =>
    Follower.start(sql, log, changes, apply),
  );
  const state = new NodeState(sql, indexes);

  let behind: string | null = "the indexes are being loaded";
  let stopping = false;
  const memoryBudget = totalmem() * INDEX_MEMORY_SHARE;

  async function loadAtStart(): Promise<void> {
    const changed = await untilAnswered("the change log", () => changes.changedProjects());
    for (const id of new Set([...changed, ...snapshots.projects()])) {
      if (stopping || residency.totals().bytes > memoryBudget) break;
      await residency.load(id);
    }
    behind = null;
  }

  function report(): IndexerReport {
    const pending = residency.ready().map((project) => project.oldestPending);
    const seqs = pending.filter((seq): seq is number => seq !== undefined);
    const lag = seqs.length === 0 ? 0 : follower.reached.seq - Math.min(...seqs) + 1;
    const reason = follower.failing ? "the change log cannot be read" : behind;
    return { behind: reason, lag, projects: residency.ids().length, ...residency.totals() };
  }

  // Graph work runs in slices. While changes are being taken in, it rests for longer than it runs:
  // what is not in the graph yet is searched all the same, what is not taken in is not.
  async function settleForever(): Promise<void> {
    while (!stopping) {
      const startedAt = performance.now();
      const more = residency.settle();
      const took = performance.now() - startedAt;
      if (!more) await Bun.sleep(INDEX_RETRY_BASE_MS);
      else if (residency.isTakingIn()) await Bun.sleep(took * INDEX_SETTLE_REST);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function upkeep(): Promise<void> {
    await residency.snapshotOne(
      (count, dirtyMs) => count >= INDEX_SNAPSHOT_VERSIONS || dirtyMs >= INDEX_SNAPSHOT_INTERVAL_MS,
    );
    if (residency.totals().bytes > memoryBudget) await residency.evictIdle();
  }

  /** Runs `work` now and then; what fails is logged and tried again the next time. */
  function regularly(what: string, intervalMs: number, work: () => Promise<unknown>): void {
    let running = false;
    setInterval(async () => {
      if (running || stopping) return;
      running = true;
      await work().catch((err: unknown) => log.warn({ err }, `${what} failed`));
      running = false;
    }, intervalMs);
  }

  async function stop(): Promise<void> {
    stopping = true;
    follower.stop();
    const deadline = performance.now() + INDEX_STOP_BUDGET_MS;
    while (performance.now() < deadline && (await residency.snapshotOne(() => true)));
    await Promise.race([state.clear().catch(() => {}), Bun.sleep(INDEX_RETRY_BASE_MS)]);
    await Promise.race([sql.end({ timeout: 1 }), Bun.sleep(INDEX_RETRY_BASE_MS)]);
    post({ type: "stopped" });
  }

  /** Tells what held up this thread, in milliseconds; `all` is the time that no timer could run. */
  function watchSteps(): void {
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      noteStep("all", now - last - STEP_WATCH_MS);
      last = now;
    }, STEP_WATCH_MS);
    setInterval(() => {
      const steps = takeLongSteps();
      if (Object.keys(steps).length > 0) log.debug({ steps }, "long steps of the indexing thread");
    }, INDEX_REPORT_INTERVAL_MS);
  }

  port.on("message", async (message: ToIndexer) => {
    if (message.type === "stop") return await stop();
    if (message.type === "used") return residency.used(message.projectIds);
    const { ticket, projectId, scope } = message;
    post({ type: "ensured", ticket, found: await residency.ensure(projectId, scope) });
  });
  setInterval(
    () => post({ type: "report", report: step("report", report) }),
    INDEX_REPORT_INTERVAL_MS,
  );
  if (log.isLevelEnabled("debug")) watchSteps();
  regularly("looking after snapshots", INDEX_UPKEEP_INTERVAL_MS, upkeep);
  const beat = () => state.write(residency.ids(), follower.reached.seq);
  regularly("the heartbeat", INDEX_HEARTBEAT_INTERVAL_MS, beat);
  regularly("pruning the change log", CHANGE_LOG_PRUNE_INTERVAL_MS, () => changes.prune());
  void settleForever();
  await loadAtStart();
  post({ type: "report", report: report() });
  // Whoever asks for the state right after the start is told of it.
  await beat().catch((err: unknown) => log.warn({ err }, "the heartbeat failed"));
}

await main();

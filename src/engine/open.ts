import { measureRecall } from "../../native/index.ts";
import { INDEX_REPORTS_CHANNEL } from "../db/channels.ts";
import type { Sql } from "../db/client.ts";
import { ChangeLog } from "../index/changes/change-log.ts";
import { noteParkedTask } from "../index/changes/index-state.ts";
import { Indexer } from "../index/indexer.ts";
import { type TextMessage, ViewStore } from "../index/segments/index.ts";
import type { IndexRecall } from "../index/thread/messages.ts";
import { createVersionReader } from "../index/versions/reader.ts";
import type { Config } from "../ops/config/schema.ts";
import type { Log } from "../ops/observability/log.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import type { Engine } from "./engine.ts";
import { AppliedVectors, noteRecall, recalibrate } from "./pgvector/catalogue.ts";
import { PgvectorSearch } from "./pgvector/engine.ts";
import { readMembers } from "./pgvector/filter-members.ts";
import { openVectorDatabase } from "./pgvector/open-schema.ts";
import { Replicator } from "./pgvector/replicator/replicator.ts";
import { StoredChunks } from "./pgvector/stored-chunks.ts";
import { RecallMonitor } from "./recall-monitor.ts";
import type { LookupRequest, RetrieveRequest, SearchRequest } from "./requests/request.ts";
import { Scheduler } from "./requests/scheduler.ts";
import { warmUp } from "./requests/warm-up.ts";
import { createWorkers } from "./requests/worker-pool.ts";
import { Searcher } from "./searcher.ts";

/**
 * Searches and lookups of one user alone may use this much of one turn of the main thread's event loop; the
 * rest go to workers. This is enough for the searches of 32 clients, or for eight that retrieve.
 */
const SEARCH_INLINE_MS = 4;

interface OpenedEngine {
  readonly engine: Engine;
  readonly indexer: Indexer;
  readonly scheduler: Scheduler;
}

/** The platform's database. */
interface Platform {
  readonly url: string;
  readonly sql: Sql;
}

/** The part that both engines share: texts are indexed and looked up in this process. */
interface Parts {
  readonly indexer: Indexer;
  readonly scheduler: Scheduler;
  readonly lookups: Searcher<LookupRequest>;
  retrieve(request: RetrieveRequest): ReturnType<Searcher<RetrieveRequest>["run"]>;
  /** The platform's database. */
  readonly platform: Sql;
  readonly log: Log;
  readonly metrics: Metrics;
}

function openParts(config: Config, { url, sql }: Platform, log: Log, metrics: Metrics): Parts {
  const { dataDir, logLevel, indexMemoryBytes: memoryBudget, indexPreload: preload } = config;
  const vectors = config.vectorDatabaseUrl === undefined;
  const { failpoints } = config;
  const options = { databaseUrl: url, logLevel, memoryBudget, preload, vectors, failpoints };
  const indexer = new Indexer(dataDir, options, log, (projectId, task) => {
    noteParkedTask(sql, projectId, task).catch((err: unknown) => {
      log.warn({ err, projectId, task }, "a parked task could not be counted");
    });
  });
  const workers = createWorkers(config.searchWorkers);
  const scheduler = new Scheduler(workers, SEARCH_INLINE_MS, (kind, ms) => {
    metrics.poolWait.observe(kind, ms / 1_000);
  });
  // The connection that hears a request has heard of earlier changes of access, which empty the caches of this thread.
  // Without it, waits for a report end a little later.
  sql
    .listen(INDEX_REPORTS_CHANNEL, (at) => indexer.answerReportRequest(Number(at) || 0))
    .catch(() => {});
  const texts = openTexts(indexer, scheduler, vectors);
  // Meanwhile the threads start.
  warmUp();
  return { indexer, scheduler, ...texts, platform: sql, log, metrics };
}

/** Opens the readers of the views of texts; retrievals read the vectors of the same scope as well. */
function openTexts(
  indexer: Indexer,
  scheduler: Scheduler,
  vectors: boolean,
): Pick<Parts, "lookups" | "retrieve"> {
  const views = new ViewStore();
  indexer.subscribe("text", {
    receive: (message) => views.receive(message as TextMessage),
    clear: () => views.clear(),
  });
  const attach = (request: LookupRequest | RetrieveRequest) => {
    const { projectId, id } = request.scope;
    const view = indexer.isLoaded(projectId) ? views.view(projectId, id) : undefined;
    if (view !== undefined) request.view = view;
    return view !== undefined;
  };
  const lookups = new Searcher<LookupRequest>(scheduler, indexer.loaderFor("text"), attach);
  const attachBoth = (request: RetrieveRequest) => {
    const project = indexer.nativeName(request.scope.projectId);
    if (project !== undefined) request.fields = project;
    if (vectors && project !== undefined) request.project = project;
    return attach(request);
  };
  const retrieversOf = (...indexes: readonly string[]) =>
    new Searcher<RetrieveRequest>(scheduler, indexer.loaderFor(...indexes), attachBoth);
  const plain = retrieversOf("vector", "text");
  const withFacets = retrieversOf("fields", "vector", "text");
  const retrieve = (request: RetrieveRequest) =>
    (request.facets === null ? plain : withFacets).run(request);
  return { lookups, retrieve };
}

/** Keeps the recall of indexes. */
interface RecallKeeper {
  reportRecall(recall: IndexRecall): void;
  recalibrate(projectId: string, dimension: number): void;
}

/** The reports of a recall monitor, which are the same for both engines. */
function recallReports({ log, metrics }: Parts, keeper: RecallKeeper) {
  return {
    measured(projectId: string, dimension: number, recall: number, samples: number) {
      metrics.recallSamples.inc();
      keeper.reportRecall({ projectId, dimension, recall, samples });
    },
    recalibrate(projectId: string, dimension: number) {
      log.info({ projectId, dimension }, "the recall is below the target; calibrating again");
      keeper.recalibrate(projectId, dimension);
    },
    failed: (err: unknown) => log.warn({ err }, "the recall of a search could not be measured"),
  };
}

function openRecallMonitor(parts: Parts): RecallMonitor {
  return new RecallMonitor({
    ...recallReports(parts, parts.indexer),
    measure: ({ project, scope, body, vector }) =>
      measureRecall({ project: project as string, scope: scope.id, body, ...vector }),
    isIdle: () => parts.scheduler.idle,
  });
}

/** Reads of fields, which both engines have. */
const fieldReads = (indexer: Indexer): Pick<Engine, "matching" | "fields"> => ({
  matching: (scope, versionIds) => indexer.matching(scope, versionIds),
  fields: (scope) => indexer.fields(scope),
});

/** The engine inside this process: native memory, an indexing thread and workers. */
function openEmbedded(parts: Parts): Engine {
  const { indexer, scheduler, lookups, retrieve } = parts;
  const recall = openRecallMonitor(parts);
  const searches = new Searcher<SearchRequest>(
    scheduler,
    indexer.loaderFor("vector"),
    (request) => {
      const project = indexer.nativeName(request.scope.projectId);
      if (project === undefined) return false;
      request.project = project;
      recall.offer(request);
      return true;
    },
  );
  return {
    search: (request) => searches.run(request),
    lookup: (request) => lookups.run(request),
    retrieve: async (request) => await retrieve(request),
    ...fieldReads(indexer),
    noteChange: (seq) => indexer.applied.note(seq),
    waitFor: ({ projectId, seq, signal }) => indexer.applied.waitFor(projectId, seq, signal),
    behindMs: (projectId) => indexer.applied.behindMs(projectId),
    state() {
      const { report, pendingLoads } = indexer;
      return { ...report, pendingLoads, queued: scheduler.queued, recall: recall.recall };
    },
    async close() {
      recall.close();
      await Promise.all([scheduler.close(), indexer.close()]);
    },
  };
}

/** The engine in PostgreSQL, with a thread that writes the vectors. Texts are in this process. */
function openPgvector(parts: Parts, sql: Sql, changes: ChangeLog, replicator: Replicator): Engine {
  const { indexer, scheduler, lookups, retrieve, platform } = parts;
  const report = recallReports(parts, {
    reportRecall({ recall, samples, ...table }) {
      noteRecall(sql, table, recall, samples).catch(report.failed);
    },
    recalibrate(projectId, dimension) {
      recalibrate(sql, { projectId, dimension }).catch(report.failed);
    },
  });
  const recall: RecallMonitor = new RecallMonitor({
    ...report,
    measure: (request) => searches.recallOf(request),
    isIdle: () => searches.running === 0,
  });
  const searches = new PgvectorSearch(
    sql,
    changes,
    async (scope, dimension) => readMembers(platform, await indexer.members(scope), dimension),
    (request) => recall.offer(request),
  );
  const chunks = new StoredChunks(createVersionReader(platform), (scope, among) =>
    indexer.members(scope, among),
  );
  const { applied } = indexer;
  const vectors = new AppliedVectors(sql);
  return {
    search: (request) => searches.search(request),
    lookup: (request) => lookups.run(request),
    retrieve: (request) =>
      searches.retrieve(request, (hits) => chunks.retrieve(request, hits, retrieve)),
    ...fieldReads(indexer),
    noteChange: (seq) => applied.note(seq),
    async waitFor({ projectId, seq, read, signal }) {
      const isThere = await applied.waitFor(projectId, seq, signal);
      return isThere && (read === "texts" || (await vectors.waitFor(seq, signal)));
    },
    async behindMs(projectId, read) {
      const texts = applied.behindMs(projectId);
      if (texts > 0 || read === "texts" || (await vectors.has(applied.newest.seq))) return texts;
      return performance.now() - applied.newest.since;
    },
    state() {
      const [texts, vectors] = [indexer.report, replicator.report];
      return {
        ...vectors,
        behind: texts.behind ?? vectors.behind,
        lag: Math.max(texts.lag, vectors.lag),
        projects: texts.projects,
        bytes: texts.bytes,
        complete: texts.complete && vectors.complete,
        queued: searches.running,
        pendingLoads: indexer.pendingLoads,
        recall: recall.recall,
      };
    },
    async close() {
      recall.close();
      await Promise.all([scheduler.close(), indexer.close(), replicator.close()]);
      await sql.end({ timeout: 1 });
    },
  };
}

async function open(
  config: Config,
  platform: Platform,
  log: Log,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<OpenedEngine> {
  const { logLevel, vectorDatabaseUrl } = config;
  if (vectorDatabaseUrl === undefined) {
    const parts = openParts(config, platform, log, metrics);
    return { ...parts, engine: openEmbedded(parts) };
  }
  const changes = new ChangeLog(platform.sql);
  const sql = await openVectorDatabase(vectorDatabaseUrl, changes, log, metrics, signal);
  const parts = openParts(config, platform, log, metrics);
  const options = { databaseUrl: platform.url, vectorDatabaseUrl, logLevel };
  return { ...parts, engine: openPgvector(parts, sql, changes, new Replicator(options, log)) };
}

/**
 * Starts the indexing thread, the workers and the configured engine. Close it with `engine.close()`.
 * Throws VectorDatabaseError when the configured database cannot hold vectors.
 */
export async function openEngine(
  config: Config,
  platform: Platform,
  log: Log,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<OpenedEngine> {
  const opened = await open(config, platform, log, metrics, signal);
  metrics.observeEngine(() => opened.engine.state());
  return opened;
}

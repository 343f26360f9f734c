import { measureRecall, setShardNodes } from "../../native/index.ts";
import type { SearchRequest } from "../../workers/protocol.ts";
import type { Config } from "../config/schema.ts";
import { openDatabase, type Sql } from "../db/client.ts";
import { observeCalls } from "../observability/calls.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { VECTOR_DB_CONNECTIONS } from "../shared/limits.ts";
import { TurnBudget } from "../shared/turn-budget.ts";
import { RecallMonitor } from "./embedded/recall-monitor.ts";
import { EmbeddedEngine } from "./embedded/search.ts";
import { ChangeLog } from "./indexing/changes/change-log.ts";
import { Indexer } from "./indexing/indexer.ts";
import { GRAPH_SETTINGS, openSchemaWhenReachable } from "./pgvector/open-schema.ts";
import { Feeder } from "./pgvector/replicator/feeder.ts";
import { PgvectorEngine } from "./pgvector-engine.ts";
import type { SearchEngine } from "./requests/search-engine.ts";
import { SearchPool } from "./requests/search-pool.ts";
import { createWorkers } from "./requests/search-runner.ts";

interface OpenedEngine {
  readonly engine: SearchEngine;
  readonly indexer: Indexer;
  /** Runs lookups on the same threads. */
  readonly pool: SearchPool;
  /** Shared by searches and lookups. */
  readonly budget: TurnBudget;
}

/** The platform's database. */
interface Platform {
  readonly url: string;
  readonly sql: Sql;
}

type EngineParts = Omit<OpenedEngine, "engine">;

function measure({ project, scopeId, body, vector }: SearchRequest) {
  if (vector === undefined) return measureRecall(project, scopeId, body);
  const { dimension, limit, threshold } = vector;
  return measureRecall(project, scopeId, body, dimension, limit, threshold);
}

function openParts(config: Config, { url }: Platform, log: Log, metrics: Metrics): EngineParts {
  const { dataDir, logLevel, searchWorkers, indexMemoryBytes: memoryBudget } = config;
  const vectors = config.searchEngine === "embedded";
  const preload = config.indexPreload;
  // For the whole process: the indexing thread uses the same native core.
  setShardNodes(config.indexShardVectors);
  const options = { databaseUrl: url, logLevel, memoryBudget, preload, vectors };
  const indexer = new Indexer(dataDir, options, log);
  const workers = createWorkers(searchWorkers);
  const budget = new TurnBudget(config.searchInlineMs);
  const pool = new SearchPool(workers, budget, (kind, ms) => {
    metrics.poolWait.observe(kind, ms / 1_000);
  });
  return { indexer, pool, budget };
}

function openEmbedded({ indexer, pool }: EngineParts, log: Log, metrics: Metrics): EmbeddedEngine {
  const recall = new RecallMonitor({
    measure,
    isIdle: () => pool.idle,
    measured: (projectId, dimension, ratio, samples) => {
      metrics.recallSamples.inc();
      indexer.reportRecall({ projectId, dimension, recall: ratio, samples });
    },
    recalibrate: (projectId, dimension) => {
      log.info({ projectId, dimension }, "the recall is below the target; calibrating again");
      indexer.recalibrate(projectId, dimension);
    },
    failed: (err) => log.warn({ err }, "the recall of a search could not be measured"),
  });
  return new EmbeddedEngine(pool, indexer, recall);
}

/** Creates the engine's schema and starts the thread that writes vectors. */
async function openPgvector(
  config: Config,
  platform: Platform,
  log: Log,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<OpenedEngine> {
  const vectorDatabaseUrl = config.vectorDatabaseUrl ?? platform.url;
  const changes = new ChangeLog(platform.sql);
  const sql = openDatabase(vectorDatabaseUrl, {
    connections: VECTOR_DB_CONNECTIONS,
    applicationName: "tessera-search",
    settings: GRAPH_SETTINGS,
    observer: observeCalls(metrics.calls, "postgresql"),
  });
  try {
    await openSchemaWhenReachable(sql, await changes.databaseId(), log, signal);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  const { logLevel, vectorPlacements: placements } = config;
  const feed = { databaseUrl: platform.url, vectorDatabaseUrl, placements, logLevel };
  const parts = openParts(config, platform, log, metrics);
  const feeder = new Feeder(feed, log);
  return { ...parts, engine: new PgvectorEngine({ ...parts, sql, changes, feeder }) };
}

/**
 * Starts the indexing thread, the search workers and the configured engine. Close it with
 * `engine.close()`. Throws VectorDatabaseError when the configured database cannot hold vectors.
 */
export async function openEngine(
  config: Config,
  platform: Platform,
  log: Log,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<OpenedEngine> {
  const opened =
    config.searchEngine === "pgvector"
      ? await openPgvector(config, platform, log, metrics, signal)
      : openEmbeddedParts(config, platform, log, metrics);
  metrics.observeEngine(() => opened.engine.state());
  return opened;
}

function openEmbeddedParts(
  config: Config,
  platform: Platform,
  log: Log,
  metrics: Metrics,
): OpenedEngine {
  const parts = openParts(config, platform, log, metrics);
  return { ...parts, engine: openEmbedded(parts, log, metrics) };
}

import type { Config } from "../config/schema.ts";
import { Indexer } from "../indexing/indexer.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { EmbeddedEngine } from "./embedded-engine.ts";
import { createWorkers, type LookupRunner, SearchPool } from "./pool.ts";

interface OpenedEngine {
  readonly engine: EmbeddedEngine;
  readonly indexer: Indexer;
  /** Runs lookups on the same threads. */
  readonly lookups: LookupRunner;
}

/** Starts the indexing thread and the search workers. Close it with `engine.close()`. */
export function openEngine(
  config: Config,
  databaseUrl: string,
  log: Log,
  metrics: Metrics,
): OpenedEngine {
  const { dataDir, logLevel, searchWorkers } = config;
  const indexer = new Indexer(dataDir, { databaseUrl, logLevel }, log);
  const workers = createWorkers(searchWorkers);
  const pool = new SearchPool(workers);
  const engine = new EmbeddedEngine(pool, indexer, () => metrics.overloaded.inc());
  metrics.observeEngine(() => engine.state());
  return { engine, indexer, lookups: workers };
}

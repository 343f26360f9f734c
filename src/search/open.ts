import { measureRecall } from "../../native/index.ts";
import type { SearchRequest } from "../../workers/protocol.ts";
import type { Config } from "../config/schema.ts";
import { Indexer } from "../indexing/indexer.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { EmbeddedEngine } from "./embedded-engine.ts";
import { SearchPool } from "./pool.ts";
import { RecallMonitor } from "./recall-monitor.ts";
import { createWorkers } from "./search-runner.ts";

interface OpenedEngine {
  readonly engine: EmbeddedEngine;
  readonly indexer: Indexer;
  /** Runs lookups on the same threads. */
  readonly pool: SearchPool;
}

function measure({ project, scopeId, body, vector }: SearchRequest) {
  if (vector === undefined) return measureRecall(project, scopeId, body);
  const { dimension, limit, threshold } = vector;
  return measureRecall(project, scopeId, body, dimension, limit, threshold);
}

/** Starts the indexing thread and the search workers. Close it with `engine.close()`. */
export function openEngine(
  config: Config,
  databaseUrl: string,
  log: Log,
  metrics: Metrics,
): OpenedEngine {
  const { dataDir, logLevel, searchWorkers, indexMemoryBytes: memoryBudget } = config;
  const options = { databaseUrl, logLevel, memoryBudget, preload: config.indexPreload };
  const indexer = new Indexer(dataDir, options, log);
  const workers = createWorkers(searchWorkers);
  const pool = new SearchPool(workers, (kind, ms) => metrics.poolWait.observe(kind, ms / 1_000));
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
  const engine = new EmbeddedEngine(pool, indexer, recall);
  metrics.observeEngine(() => engine.state());
  return { engine, indexer, pool };
}

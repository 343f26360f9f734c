import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from "prom-client";
import { VERSION } from "../../domain/version.ts";
import type { CacheCounts } from "../ttl-cache.ts";
import { CALL_LABELS } from "./calls.ts";
import { QuickHistogram } from "./quick-histogram.ts";

const SECONDS_BUCKETS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
/** Parts of a search take microseconds. */
const STAGE_BUCKETS = [
  0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
  0.1, 1,
];
/** The buckets that the conventions of OpenTelemetry prescribe for calls of databases. */
const CALL_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** The stages of a vector search. Its plan decides which of them run. */
const SEARCH_STAGES = ["parse", "walk", "scan", "exact", "rescore", "render"] as const;

/** The state of the search engine, which gauges report. */
export interface EngineFigures {
  /** Searches that wait for a thread. */
  readonly queued: number;
  /** Scopes that requests wait for, because their projects are not loaded yet. */
  readonly pendingLoads: number;
  /** Projects in memory. */
  readonly projects: number;
  readonly vectors: number;
  /** Vectors that wait to be added to a graph. */
  readonly backlog: number;
  readonly bytes: number;
  /** Changes that are not searchable yet. */
  readonly lag: number;
  /** True when all changes are indexed, and all graphs are built and calibrated. */
  readonly complete: boolean;
  /** The recall of recent live searches, 0 to 1; null before one was measured. */
  readonly recall: number | null;
}

/** Gauges that are read from the engine at each scrape, and left out while they are null. */
const ENGINE_GAUGES: ReadonlyArray<
  readonly [name: string, help: string, of: (figures: EngineFigures) => number | null]
> = [
  ["tessera_search_queue_length", "Searches waiting for a worker.", ({ queued }) => queued],
  [
    "tessera_search_recall_ratio",
    "Share of the true best results that recent searches found, measured on a sample of them.",
    ({ recall }) => recall,
  ],
  ["tessera_index_projects", "Projects in the memory of this process.", ({ projects }) => projects],
  [
    "tessera_index_pending_loads",
    "Scopes of projects not in memory that requests wait for.",
    ({ pendingLoads }) => pendingLoads,
  ],
  ["tessera_index_vectors", "Vectors in this process's indexes.", ({ vectors }) => vectors],
  ["tessera_index_memory_bytes", "Native memory of this process's indexes.", ({ bytes }) => bytes],
  ["tessera_index_change_lag", "Change log entries that are not indexed yet.", ({ lag }) => lag],
  [
    "tessera_index_graph_backlog",
    "Vectors that are not in a graph yet, which searches find by scanning.",
    ({ backlog }) => backlog,
  ],
  [
    "tessera_index_complete",
    "1 when all changes are indexed and all graphs are built and calibrated, else 0.",
    ({ complete }) => Number(complete),
  ],
];

function addEngineGauges(registry: Registry, read: () => EngineFigures): void {
  for (const [name, help, of] of ENGINE_GAUGES) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = of(read());
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  }
}

/**
 * The library's metrics of the process, except those of the spaces of V8's heap, for which Bun walks its own heap. They
 * are created once per process, because the library reads those spaces when it creates the metrics, and its observers
 * run until the process ends.
 */
let processMetrics: readonly Metric[] | undefined;

function makeProcessMetrics(): readonly Metric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "tessera_" });
  const made = registry.getMetricsAsArray() as unknown as readonly (Metric & { name: string })[];
  return made.filter(({ name }) => !name.includes("_heap_space_size_"));
}

function addProcessMetrics(registry: Registry): void {
  processMetrics ??= makeProcessMetrics();
  for (const metric of processMetrics) registry.registerMetric(metric);
}

function addBuildInfo(registry: Registry): void {
  const help = "The version of the service. The value is always 1.";
  const labelNames = ["version"];
  const name = "tessera_build_info";
  new Gauge({ name, help, labelNames, registers: [registry] }).set({ version: VERSION }, 1);
}

/** Counters of caches. A cache increments its own numbers, which each scrape reads. */
function addCaches(registry: Registry): (name: string) => CacheCounts {
  const caches = new Map<string, CacheCounts>();
  new Counter({
    name: "tessera_cache_requests_total",
    help: "Look-ups in caches, by cache and result.",
    labelNames: ["cache", "result"] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [cache, { hits, misses }] of caches) {
        this.inc({ cache, result: "hit" }, hits);
        this.inc({ cache, result: "miss" }, misses);
      }
    },
  });
  return (name) => {
    const counts = { hits: 0, misses: 0 };
    caches.set(name, counts);
    return counts;
  };
}

/** The metrics of searches and lookups. */
function searchMetrics(registry: Registry) {
  const registers = [registry];
  return {
    searchStages: new QuickHistogram({
      name: "tessera_search_stage_duration_seconds",
      help: "Time of the stages of vector searches.",
      label: "stage",
      values: SEARCH_STAGES,
      buckets: STAGE_BUCKETS,
      registry,
    }),
    poolWait: new QuickHistogram({
      name: "tessera_search_pool_wait_seconds",
      help: "Time that searches, lookups and retrievals waited for a search thread. Those that ran at once on the main thread are not counted.",
      label: "kind",
      values: ["search", "exact_search", "lookup", "retrieve"] as const,
      buckets: STAGE_BUCKETS,
      registry,
    }),
    lookups: new Histogram({
      name: "tessera_lookup_duration_seconds",
      help: "Time of the text search of lookups.",
      buckets: STAGE_BUCKETS,
      registers,
    }),
    recallSamples: new Counter({
      name: "tessera_search_recall_samples_total",
      help: "Searches whose recall was measured.",
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The metrics of this process. Labels are operation ids, statuses, names of stages and codes of
 * errors: bounded, never caller data.
 */
export function createMetrics() {
  const registry = new Registry();
  addProcessMetrics(registry);
  addBuildInfo(registry);
  const registers = [registry];
  const databaseUp = new Gauge({
    name: "tessera_database_up",
    help: "1 while PostgreSQL answers, 0 during an outage.",
    registers,
  });
  databaseUp.set(1);
  return {
    /** Adds the engine's gauges. */
    observeEngine(read: () => EngineFigures): void {
      addEngineGauges(registry, read);
    },
    /** Adds a gauge for the coordinator; `check` returns null when it answers. */
    observeCoordination(check: () => Promise<string | null>): void {
      new Gauge({
        name: "tessera_coordination_up",
        help: "1 when the coordination server answers, else 0.",
        registers,
        async collect() {
          this.set((await check()) === null ? 1 : 0);
        },
      });
    },
    /** The numbers of a new cache, which the cache increments. */
    cache: addCaches(registry),
    databaseUp,
    registry,
    requests: new Histogram({
      name: "tessera_http_request_duration_seconds",
      help: "Time from receiving a request to its response, by operation and status.",
      labelNames: ["operation", "status"] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    overloaded: new Counter({
      name: "tessera_overloaded_total",
      help: "Requests rejected because the queue was full.",
      registers,
    }),
    rateLimited: new Counter({
      name: "tessera_rate_limited_total",
      help: "Requests rejected because their credential had used up its requests.",
      registers,
    }),
    /** Calls of PostgreSQL and Redis. */
    calls: new Histogram({
      name: "db_client_operation_duration_seconds",
      help: "Time of statements and transactions of PostgreSQL and of commands of Redis that requests sent, by system, operation and type of error (empty without one).",
      labelNames: CALL_LABELS,
      buckets: CALL_BUCKETS,
      registers,
    }),
    ...searchMetrics(registry),
  };
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const SECONDS_BUCKETS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The state of the search engine that gauges report. */
interface EngineFigures {
  readonly queued: number;
  readonly vectors: number;
  readonly backlog: number;
  readonly bytes: number;
  readonly lag: number;
  readonly complete: boolean;
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

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process. Labels are operation ids and statuses: bounded, never caller data. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "tessera_" });
  const registers = [registry];
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
    recallSamples: new Counter({
      name: "tessera_search_recall_samples_total",
      help: "Searches whose recall was measured.",
      registers,
    }),
  };
}

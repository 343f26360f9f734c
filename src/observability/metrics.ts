import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const SECONDS_BUCKETS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** The state of the search engine that gauges report. */
interface EngineFigures {
  readonly queued: number;
  readonly vectors: number;
  readonly bytes: number;
  readonly lag: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process. Labels are operation ids and statuses: bounded, never caller data. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "tessera_" });
  const registers = [registry];
  /** A gauge that is read from the engine at each scrape. */
  const engineGauge = (name: string, help: string, of: (state: EngineFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        if (figures !== undefined) this.set(of(figures()));
      },
    });
  let figures: (() => EngineFigures) | undefined;
  return {
    /** Sets the source of the engine's gauges. */
    observeEngine(read: () => EngineFigures): void {
      figures = read;
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
    searchQueue: engineGauge(
      "tessera_search_queue_length",
      "Searches waiting for a worker.",
      (state) => state.queued,
    ),
    overloaded: new Counter({
      name: "tessera_overloaded_total",
      help: "Requests rejected because the queue was full.",
      registers,
    }),
    indexVectors: engineGauge(
      "tessera_index_vectors",
      "Vectors in this process's indexes.",
      (state) => state.vectors,
    ),
    indexBytes: engineGauge(
      "tessera_index_memory_bytes",
      "Native memory of this process's indexes.",
      (state) => state.bytes,
    ),
    indexLag: engineGauge(
      "tessera_index_change_lag",
      "Change log entries that are not indexed yet.",
      (state) => state.lag,
    ),
  };
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const SECONDS_BUCKETS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** What the search engine tells about itself. */
export interface EngineFigures {
  readonly queued: number;
  readonly vectors: number;
  readonly bytes: number;
  readonly lag: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** The process's instruments. Labels are operation ids and statuses: bounded, never caller data. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "tessera_" });
  const registers = [registry];
  /** Gauges that are read from the engine when somebody asks for them. */
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
    /** Says where the engine's gauges come from. */
    observeEngine(read: () => EngineFigures): void {
      figures = read;
    },
    /** Says how to find out whether the coordinator answers; a sentence means that it does not. */
    observeCoordination(check: () => Promise<string | null>): void {
      new Gauge({
        name: "tessera_coordination_up",
        help: "1 when the server that coordinates processes answers, else 0.",
        registers,
        async collect() {
          this.set((await check()) === null ? 1 : 0);
        },
      });
    },
    registry,
    requests: new Histogram({
      name: "tessera_http_request_duration_seconds",
      help: "Time from taking a request to having its answer, by operation and status.",
      labelNames: ["operation", "status"] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    searchQueue: engineGauge(
      "tessera_search_queue_length",
      "Searches that wait for a worker.",
      (state) => state.queued,
    ),
    overloaded: new Counter({
      name: "tessera_overloaded_total",
      help: "Requests refused because the queue was full.",
      registers,
    }),
    indexVectors: engineGauge(
      "tessera_index_vectors",
      "Vectors that this process holds in memory.",
      (state) => state.vectors,
    ),
    indexBytes: engineGauge(
      "tessera_index_memory_bytes",
      "Native memory of the indexes that this process holds.",
      (state) => state.bytes,
    ),
    indexLag: engineGauge(
      "tessera_index_change_lag",
      "Entries of the change log that the indexes have not taken in.",
      (state) => state.lag,
    ),
  };
}

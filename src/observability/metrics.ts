import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const SECONDS_BUCKETS = [
  0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export type Metrics = ReturnType<typeof createMetrics>;

/** The process's instruments. Labels are operation ids and statuses: bounded, never caller data. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "tessera_" });
  const registers = [registry];
  return {
    registry,
    requests: new Histogram({
      name: "tessera_http_request_duration_seconds",
      help: "Time from taking a request to having its answer, by operation and status.",
      labelNames: ["operation", "status"] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    searchQueue: new Gauge({
      name: "tessera_search_queue_length",
      help: "Searches that wait for a worker.",
      registers,
    }),
    overloaded: new Counter({
      name: "tessera_overloaded_total",
      help: "Requests refused because the queue was full.",
      registers,
    }),
    indexVectors: new Gauge({
      name: "tessera_index_vectors",
      help: "Vectors that this process holds in memory.",
      registers,
    }),
    indexBytes: new Gauge({
      name: "tessera_index_memory_bytes",
      help: "Native memory of the indexes that this process holds.",
      registers,
    }),
    indexLag: new Gauge({
      name: "tessera_index_change_lag",
      help: "Entries of the change log that the indexes have not taken in.",
      registers,
    }),
  };
}

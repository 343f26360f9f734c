/** Upper bounds in milliseconds of the latencies, and the share of requests within each. */
const BUCKETS = [
  [1, 0.3],
  [2.5, 0.72],
  [5, 0.9],
  [10, 0.96],
  [25, 0.985],
  [50, 0.996],
  [100, 1],
] as const;
const MS = 1_000;
const MIB = 2 ** 20;

/** Metrics of a process at its n-th reading: some day's traffic, with an import in the middle. */
export function metricsText(n: number): string {
  const swell = (period: number) => (1 + Math.sin((2 * Math.PI * n) / period)) / 2;
  const busy = Math.max(0, 1 - Math.abs(n - 50) / 12);
  // Sums of a rate that swells, so that the counters only grow.
  const count = Math.round(2_400 * n + 9_000 * (1 - Math.cos(n / 14)) + 40 * busy);
  const slow = 1 - 0.06 * swell(37);
  const duration = "tessera_http_request_duration_seconds";
  const labels = 'operation="retrieve",status="200"';
  return [
    ...BUCKETS.map(([ms, share]) => {
      const within = Math.round(count * (share === 1 ? 1 : share * slow));
      return `${duration}_bucket{le="${ms / MS}",${labels}} ${within}`;
    }),
    `${duration}_bucket{le="+Inf",${labels}} ${count}`,
    `${duration}_count{${labels}} ${count}`,
    `tessera_search_recall_ratio ${(0.991 + 0.004 * swell(29)).toFixed(4)}`,
    `tessera_index_change_lag ${Math.round(340 * busy)}`,
    `tessera_process_resident_memory_bytes ${Math.round((860 + 90 * busy + n / 3) * MIB)}`,
    `tessera_index_memory_bytes{kind="vectors"} ${Math.round((410 + n / 4) * MIB)}`,
    `tessera_overloaded_total{operation="retrieve"} ${Math.round(n > 44 && n < 56 ? 9 * (n - 44) : n < 56 ? 0 : 99)}`,
    "",
  ].join("\n");
}

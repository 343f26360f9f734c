/** Upper bounds of the latencies in milliseconds, and the share of the requests within each. */
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
const DURATION = "tessera_http_request_duration_seconds";

/** The metrics of a process at its n-th poll: the traffic of some day, with an import in the middle. */
export function metricsText(n: number): string {
  const swell = (period: number) => (1 + Math.sin((2 * Math.PI * n) / period)) / 2;
  const busy = Math.max(0, 1 - Math.abs(n - 30) / 8);
  // The sum of a rate that swells, so that the counter only grows.
  const count = Math.round(1_800 * n + 4_000 * (1 - Math.cos(n / 9)));
  const slow = 1 - 0.06 * swell(37);
  const refused = Math.max(0, Math.min(n - 26, 8)) * 24;
  const answered = 'operation="retrieve",status="200"';
  const others = 'operation="getProject",status="200"';
  return [
    ...BUCKETS.map(([ms, share]) => {
      const within = Math.round(count * (share === 1 ? 1 : share * slow));
      return `${DURATION}_bucket{le="${ms / MS}",${answered}} ${within}`;
    }),
    `${DURATION}_bucket{le="+Inf",${answered}} ${count}`,
    `${DURATION}_count{${answered}} ${count}`,
    `${DURATION}_count{${others}} ${Math.round(count / 4)}`,
    `${DURATION}_count{operation="retrieve",status="503"} ${refused}`,
    `tessera_search_recall_ratio ${(0.991 + 0.004 * swell(29)).toFixed(4)}`,
    `tessera_index_change_lag ${Math.round(340 * busy)}`,
    `tessera_process_resident_memory_bytes ${Math.round((860 + 90 * busy + n) * MIB)}`,
    "",
  ].join("\n");
}

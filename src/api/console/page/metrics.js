// Reads the Prometheus text format, and what changed between two readings.

const DURATION = "tessera_http_request_duration_seconds";

/**
 * The samples of a text: value by name and labels.
 *
 * @param {string} text
 * @returns {Map<string, { labels: Record<string, string>, value: number }[]>}
 */
export function parseMetrics(text) {
  const samples = new Map();
  for (const [, name, labels = "", value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, of]) => [
      key,
      of,
    ]);
    const list = samples.get(name) ?? [];
    list.push({
      labels: Object.fromEntries(pairs),
      value: Number(value?.replace("+Inf", "Infinity")),
    });
    samples.set(name, list);
  }
  return samples;
}

/** The value of a metric without labels; null if it is absent. @param {any} samples @param {string} name */
export function sampleOf(samples, name) {
  return samples.get(name)?.[0]?.value ?? null;
}

/**
 * The requests of all operations so far: their number, and by upper bound in seconds.
 *
 * @param {ReturnType<typeof parseMetrics>} samples
 */
export function requestsOf(samples) {
  /** @type {Map<number, number>} */
  const buckets = new Map();
  for (const { labels, value } of samples.get(`${DURATION}_bucket`) ?? []) {
    const bound = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const counts = samples.get(`${DURATION}_count`) ?? [];
  return { count: counts.reduce((sum, { value }) => sum + value, 0), buckets };
}

/**
 * The quantile of the requests between two readings, in seconds, as Prometheus estimates it. Null
 * when there were none.
 *
 * @param {number} quantile
 * @param {{ buckets: Map<number, number> }} before
 * @param {{ buckets: Map<number, number> }} after
 */
export function quantileBetween(quantile, before, after) {
  const bounds = [...after.buckets.keys()].sort((a, b) => a - b);
  const grown = bounds.map((b) => (after.buckets.get(b) ?? 0) - (before.buckets.get(b) ?? 0));
  const total = grown.at(-1) ?? 0;
  if (total <= 0) return null;
  const rank = quantile * total;
  const at = grown.findIndex((count) => count >= rank);
  const upper = bounds[at] ?? 0;
  const lower = at === 0 ? 0 : (bounds[at - 1] ?? 0);
  if (upper === Number.POSITIVE_INFINITY) return lower;
  const below = at === 0 ? 0 : (grown[at - 1] ?? 0);
  return lower + ((upper - lower) * (rank - below)) / ((grown[at] ?? 0) - below || 1);
}

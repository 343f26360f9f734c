// Reads the Prometheus text format, and what changed between two readings.

const DURATION = "tessera_http_request_duration_seconds";

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
type Samples = ReadonlyMap<string, readonly Sample[]>;

/** All requests so far: their number, and how many took at most so many seconds. */
export interface Requests {
  readonly count: number;
  readonly buckets: ReadonlyMap<number, number>;
}

/** The samples of a text by the names of their metrics. */
export function parseMetrics(text: string): Samples {
  const samples = new Map<string, Sample[]>();
  for (const [, name = "", labels = "", value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    const list = samples.get(name) ?? [];
    list.push({
      labels: Object.fromEntries(pairs.map(([, key = "", of = ""]) => [key, of])),
      value: Number(value?.replace("+Inf", "Infinity")),
    });
    samples.set(name, list);
  }
  return samples;
}

/** The value of a metric without labels; null if it is absent. */
export function sampleOf(samples: Samples, name: string): number | null {
  return samples.get(name)?.[0]?.value ?? null;
}

/** The values of a metric with labels, added up. */
export function sumOf(samples: Samples, name: string): number {
  return (samples.get(name) ?? []).reduce((sum, { value }) => sum + value, 0);
}

export function requestsOf(samples: Samples): Requests {
  const buckets = new Map<number, number>();
  for (const { labels, value } of samples.get(`${DURATION}_bucket`) ?? []) {
    const bound = labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  const counts = samples.get(`${DURATION}_count`) ?? [];
  return { count: counts.reduce((sum, { value }) => sum + value, 0), buckets };
}

/**
 * The quantile of the requests between two readings, in seconds, as Prometheus estimates it. Null
 * when there were none.
 */
export function quantileBetween(
  quantile: number,
  before: Requests,
  after: Requests,
): number | null {
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

// Reads the metrics of the service, and computes rates and durations between two readings.

const DURATION = "tessera_http_request_duration_seconds";
const SEARCHES = ["searchEnvironment", "searchRelease", "lookUpKnowledge", "retrieve"];
/** Statuses of requests that were refused for a rate limit, load or an outage. */
const REFUSED = ["429", "503"];
const MS = 1_000;

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function samplesOf(text: string): Sample[] {
  return [...text.matchAll(SAMPLE)].map(([, name = "", labels = "", value = ""]) => {
    const pairs = [...labels.matchAll(LABEL)].map(([, key = "", of = ""]) => [key, of]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

/** The counts of a process since its start, and its present state. */
export interface Reading {
  /** Seconds since 1970. */
  readonly at: number;
  /** The start of the process, which differs between processes that answer at one address. */
  readonly startedAt: number | null;
  readonly counts: Readonly<Record<"searches" | "others" | "refused" | "failed", number>>;
  /** The number of requests that took at most as many seconds as the key. */
  readonly buckets: ReadonlyMap<number, number>;
  readonly recall: number | null;
  /** Changes that are not searchable yet. */
  readonly lag: number | null;
  readonly memory: number | null;
}

export function readingOf(text: string, at: number): Reading {
  const samples = samplesOf(text);
  const gauge = (of: string) => samples.find(({ name }) => name === of)?.value ?? null;
  const counts = { searches: 0, others: 0, refused: 0, failed: 0 };
  const buckets = new Map<number, number>();
  for (const { name, labels, value } of samples) {
    const { operation = "", status = "", le } = labels;
    const isRefused = REFUSED.includes(status);
    if (name === `${DURATION}_count`) {
      if (isRefused) counts.refused += value;
      else counts[SEARCHES.includes(operation) ? "searches" : "others"] += value;
      if (!isRefused && status.startsWith("5")) counts.failed += value;
    }
    if (name === `${DURATION}_bucket` && !isRefused) {
      const bound = Number(le?.replace("+Inf", "Infinity"));
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    }
  }
  return {
    at,
    counts,
    buckets,
    startedAt: gauge("tessera_process_start_time_seconds"),
    recall: gauge("tessera_search_recall_ratio"),
    lag: gauge("tessera_index_change_lag"),
    memory: gauge("tessera_process_resident_memory_bytes"),
  };
}

/** The quantile of the durations since a reading at `share`, in milliseconds; null without requests. */
function durationAt(share: number, before: Reading, after: Reading): number | null {
  const bounds = [...after.buckets.keys()].sort((a, b) => a - b);
  const grown = bounds.map((b) => (after.buckets.get(b) ?? 0) - (before.buckets.get(b) ?? 0));
  const rank = share * (grown.at(-1) ?? 0);
  if (rank === 0) return null;
  const at = grown.findIndex((count) => count >= rank);
  const [lower = 0, upper = 0] = [bounds[at - 1], bounds[at]];
  if (upper === Number.POSITIVE_INFINITY) return lower * MS;
  const [below = 0, within = 0] = [grown[at - 1], grown[at]];
  return (lower + ((upper - lower) * (rank - below)) / (within - below)) * MS;
}

/** The values of plots at one time: rates per second, durations in milliseconds, and null for an unknown value. */
export type Point = Readonly<
  Record<keyof Reading["counts"] | "p50" | "p99" | "recall" | "lag" | "memory", number | null>
> & { readonly at: number };

/** The point of a reading. Its rates are null without an earlier reading of the same process. */
export function pointOf(earlier: Reading | undefined, after: Reading): Point {
  const { at, counts, recall, lag, memory } = after;
  const before = earlier?.startedAt === after.startedAt ? earlier : undefined;
  const rate = (name: keyof Reading["counts"]) =>
    before === undefined ? null : (counts[name] - before.counts[name]) / (at - before.at);
  return {
    at,
    recall,
    lag,
    memory,
    searches: rate("searches"),
    others: rate("others"),
    refused: rate("refused"),
    failed: rate("failed"),
    p50: before === undefined ? null : durationAt(0.5, before, after),
    p99: before === undefined ? null : durationAt(0.99, before, after),
  };
}

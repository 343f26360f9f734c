/** A sample is taken this often. */
const SAMPLE_INTERVAL_MS = 5_000;
/** Samples are kept for six hours. */
export const HISTORY_MAX_SECONDS = 21_600;
/** Points of an answer; neighbouring samples are merged when there are more. */
const HISTORY_POINTS_MAX = 720;
const SAMPLES_MAX = (HISTORY_MAX_SECONDS * 1_000) / SAMPLE_INTERVAL_MS;

/** Durations are counted in buckets that differ by a factor of 2^(1/8), from 1/16 ms to 65 s. */
const BUCKETS_PER_DOUBLING = 8;
const FIRST_EXPONENT = -4;
const BUCKETS = 20 * BUCKETS_PER_DOUBLING;

const KINDS = ["search", "lookup", "retrieve", "other"] as const;
type Kind = (typeof KINDS)[number];
/** By the id of the operation. */
const KIND_OF = new Map<string, Kind>([
  ["searchEnvironment", "search"],
  ["searchRelease", "search"],
  ["lookUpKnowledge", "lookup"],
  ["retrieve", "retrieve"],
]);

/** How the values of several samples become that of one point. */
const MERGED = {
  ...{ search: "mean", lookup: "mean", retrieve: "mean", other: "mean" },
  ...{ p50_ms: "mean", p99_ms: "max" },
  ...{ refusals_per_second: "mean", errors_per_second: "mean" },
  ...{ rss_bytes: "mean", loaded_projects: "mean", index_lag_seconds: "max", recall: "mean" },
} as const satisfies Record<string, "mean" | "max">;
type Column = keyof typeof MERGED;
const COLUMNS = Object.keys(MERGED) as Column[];

/** The state of the engine that samples contain. */
interface EngineFigures {
  readonly projects: number;
  /** Changes that are not indexed yet. */
  readonly lag: number;
  readonly recall: number | null;
}

/** What a plot over a time range needs: a time per point, and a value per point of each series. */
interface HistoryAnswer {
  /** Of a point. */
  readonly interval_seconds: number;
  /** Seconds since 1970. */
  readonly at: readonly number[];
  readonly requests_per_second: Readonly<Record<Kind, readonly (number | null)[]>>;
  readonly series: Readonly<Record<Exclude<Column, Kind>, readonly (number | null)[]>>;
}

/** Merged samples: the first one of each point, and the values of all points. */
interface Points {
  readonly starts: readonly number[];
  readonly columns: Readonly<Record<Column, (number | null)[]>>;
}

function bucketOf(milliseconds: number): number {
  const position = Math.floor((Math.log2(milliseconds) - FIRST_EXPONENT) * BUCKETS_PER_DOUBLING);
  return Math.max(0, Math.min(BUCKETS - 1, position));
}

/** The middle of the bucket in which the quantile is; NaN without durations. */
function quantileOf(buckets: Uint32Array, quantile: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  let left = total * quantile;
  for (let bucket = 0; total > 0 && bucket < BUCKETS; bucket++) {
    left -= buckets[bucket] as number;
    if (left <= 0) return 2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING + FIRST_EXPONENT);
  }
  return Number.NaN;
}

/** The value of several samples, of which NaN is none; null without any. */
function merged(values: Float32Array, how: "mean" | "max"): number | null {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return null;
  const value =
    how === "max" ? Math.max(...known) : known.reduce((sum, each) => sum + each, 0) / known.length;
  return Number(value.toPrecision(5));
}

/**
 * What this process did in the last six hours, as a sample every five seconds. It takes a quarter of a
 * megabyte.
 */
export class MetricsHistory {
  readonly #times = new Float64Array(SAMPLES_MAX);
  readonly #columns = Object.fromEntries(
    COLUMNS.map((name) => [name, new Float32Array(SAMPLES_MAX)]),
  ) as Record<Column, Float32Array>;
  /** Samples that were ever taken; the last ones are kept. */
  #taken = 0;
  /** Since the last sample. */
  readonly #requests: Record<Kind, number> = { search: 0, lookup: 0, retrieve: 0, other: 0 };
  readonly #durations = new Uint32Array(BUCKETS);
  #refusals = 0;
  #errors = 0;
  #sampledAt: number;
  /** By the samples of a point, until the next sample. */
  readonly #points = new Map<number, Points>();
  /** Since when changes have waited to be indexed. */
  #laggingSince: number | undefined;

  constructor(now = Date.now()) {
    this.#sampledAt = now;
  }

  /** Takes samples until the returned function is called. */
  start(read: () => EngineFigures): () => void {
    const timer = setInterval(
      () => this.sample(read(), residentBytes(), Date.now()),
      SAMPLE_INTERVAL_MS,
    );
    timer.unref();
    return () => clearInterval(timer);
  }

  /** @param isRefused true for a request that was refused for lack of capacity or of quota */
  observe(operation: string, status: number, milliseconds: number, isRefused: boolean): void {
    if (isRefused) {
      this.#refusals++;
      return;
    }
    this.#requests[KIND_OF.get(operation) ?? "other"]++;
    const bucket = bucketOf(milliseconds);
    this.#durations[bucket] = (this.#durations[bucket] as number) + 1;
    if (status >= 500) this.#errors++;
  }

  sample({ projects, lag, recall }: EngineFigures, rssBytes: number, now: number): void {
    const seconds = Math.max(1, now - this.#sampledAt) / 1_000;
    this.#sampledAt = now;
    this.#laggingSince = lag > 0 ? (this.#laggingSince ?? now) : undefined;
    const { search, lookup, retrieve, other } = this.#requests;
    const values: Record<Column, number> = {
      search: search / seconds,
      lookup: lookup / seconds,
      retrieve: retrieve / seconds,
      other: other / seconds,
      p50_ms: quantileOf(this.#durations, 0.5),
      p99_ms: quantileOf(this.#durations, 0.99),
      refusals_per_second: this.#refusals / seconds,
      errors_per_second: this.#errors / seconds,
      rss_bytes: rssBytes,
      loaded_projects: projects,
      index_lag_seconds: (now - (this.#laggingSince ?? now)) / 1_000,
      recall: recall ?? Number.NaN,
    };
    this.#points.clear();
    const at = this.#taken++ % SAMPLES_MAX;
    this.#times[at] = now;
    for (const name of COLUMNS) this.#columns[name][at] = values[name];
    for (const kind of KINDS) this.#requests[kind] = 0;
    this.#durations.fill(0);
    this.#refusals = this.#errors = 0;
  }

  /** The samples of the last seconds, merged so that there are not too many points. */
  read(seconds: number, now = Date.now()): HistoryAnswer {
    const wanted = Math.ceil((seconds * 1_000) / SAMPLE_INTERVAL_MS);
    const samples = Math.min(wanted, SAMPLES_MAX, this.#taken);
    const width = Math.max(1, Math.ceil(samples / HISTORY_POINTS_MAX));
    const { starts, columns } = this.#pointsOf(width);
    const oldest = this.#taken - samples;
    const first = starts.findIndex(
      (start) => start >= oldest && now - this.#timeOf(start) <= seconds * 1_000,
    );
    const from = first < 0 ? starts.length : first;
    const all = Object.fromEntries(COLUMNS.map((name) => [name, columns[name].slice(from)]));
    const { search, lookup, retrieve, other, ...series } = all as Points["columns"];
    return {
      interval_seconds: (width * SAMPLE_INTERVAL_MS) / 1_000,
      at: starts.slice(from).map((start) => this.#timeOf(start + width - 1) / 1_000),
      requests_per_second: { search, lookup, retrieve, other },
      series,
    };
  }

  /** The last points of so many samples each. They are merged once between two samples, however many ask. */
  #pointsOf(width: number): Points {
    const known = this.#points.get(width);
    if (known !== undefined) return known;
    // Aligned, so that a point has the same samples in every answer.
    const end = Math.floor(this.#taken / width);
    const kept = Math.ceil(Math.max(0, this.#taken - SAMPLES_MAX) / width);
    const first = Math.max(kept, end - HISTORY_POINTS_MAX);
    const length = Math.max(0, end - first);
    const starts = Array.from({ length }, (_, i) => (first + i) * width);
    const column = (name: Column) =>
      starts.map((start) => {
        const values = Float32Array.from({ length: width }, (_, i) => this.#at(name, start + i));
        return merged(values, MERGED[name]);
      });
    const columns = Object.fromEntries(COLUMNS.map((name) => [name, column(name)]));
    const points = { starts, columns: columns as Points["columns"] };
    this.#points.set(width, points);
    return points;
  }

  #timeOf(sample: number): number {
    return this.#times[sample % SAMPLES_MAX] as number;
  }

  #at(name: Column, sample: number): number {
    return this.#columns[name][sample % SAMPLES_MAX] as number;
  }
}

/** The resident memory of the process; 0 when the system does not tell, for example because too many files are open. */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

// All of the library, with its files of histograms and its WebAssembly, takes a tenth of the time to load the service.
import Int32Histogram from "hdr-histogram-js/dist/Int32Histogram";

/** A sample is taken this often. */
const SAMPLE_INTERVAL_MS = 5_000;
/** Samples are kept for six hours. */
export const HISTORY_MAX_SECONDS = 21_600;
/** Points of an answer; neighbouring samples are merged when there are more. */
const HISTORY_POINTS_MAX = 720;
const SAMPLES_MAX = (HISTORY_MAX_SECONDS * 1_000) / SAMPLE_INTERVAL_MS;

/** Durations are kept in microseconds, to two digits. */
const DURATION_MAX_US = 100_000_000;
const DURATION_DIGITS = 2;

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

/** What was measured in one interval, or in several that were merged; null is an unknown value. */
type Sample = Readonly<Record<Column, number | null>> & {
  /** Milliseconds since 1970, at the end of the first interval and of the last one. */
  readonly from: number;
  readonly at: number;
};

/** What is counted until the next sample, which has it as a rate. */
const NO_COUNTS = {
  ...{ search: 0, lookup: 0, retrieve: 0, other: 0 },
  ...{ refusals_per_second: 0, errors_per_second: 0 },
};
const COUNTED = Object.keys(NO_COUNTS) as (keyof typeof NO_COUNTS)[];

const rounded = (value: number) => Number(value.toPrecision(5));

/** Merges samples that follow each other. There is at least one. */
function merged(samples: readonly Sample[]): Sample {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  if (first === last) return first;
  const columns = COLUMNS.map((name) => {
    const known = samples.map((sample) => sample[name]).filter((value) => value !== null);
    if (known.length === 0) return [name, null];
    const sum = known.reduce((total, each) => total + each, 0);
    return [name, MERGED[name] === "max" ? Math.max(...known) : rounded(sum / known.length)];
  });
  return { ...Object.fromEntries(columns), from: first.from, at: last.at };
}

/** What this process did in the last six hours, as a sample every five seconds. It takes about half a megabyte. */
export class MetricsHistory {
  /** The last samples, the oldest first. */
  readonly #samples: Sample[] = [];
  /** Samples that were ever taken. */
  #taken = 0;
  /** Since the last sample. */
  readonly #counts = { ...NO_COUNTS };
  readonly #durations = new Int32Histogram(1, DURATION_MAX_US, DURATION_DIGITS);
  #sampledAt: number;
  /** Points by the number of samples that each has, until the next sample. */
  readonly #points = new Map<number, readonly Sample[]>();
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
      this.#counts.refusals_per_second++;
      return;
    }
    this.#counts[KIND_OF.get(operation) ?? "other"]++;
    this.#durations.recordValue(Math.min(Math.round(milliseconds * 1_000), DURATION_MAX_US));
    if (status >= 500) this.#counts.errors_per_second++;
  }

  sample({ projects, lag, recall }: EngineFigures, rssBytes: number, at: number): void {
    const seconds = Math.max(1, at - this.#sampledAt) / 1_000;
    this.#sampledAt = at;
    this.#laggingSince = lag > 0 ? (this.#laggingSince ?? at) : undefined;
    const durations = this.#durations;
    const milliseconds = (percentile: number) =>
      durations.totalCount === 0 ? null : durations.getValueAtPercentile(percentile) / 1_000;
    const rate = (name: keyof typeof NO_COUNTS) => rounded(this.#counts[name] / seconds);
    const rates = Object.fromEntries(COUNTED.map((name) => [name, rate(name)]));
    this.#samples.push({
      ...{ from: at, at, ...(rates as typeof NO_COUNTS) },
      p50_ms: milliseconds(50),
      p99_ms: milliseconds(99),
      rss_bytes: rssBytes,
      loaded_projects: projects,
      index_lag_seconds: (at - (this.#laggingSince ?? at)) / 1_000,
      recall: recall === null ? null : rounded(recall),
    });
    this.#taken++;
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
    Object.assign(this.#counts, NO_COUNTS);
    durations.reset();
    this.#points.clear();
  }

  /** The samples of the last seconds, merged so that there are not too many points. */
  read(seconds: number, now = Date.now()): HistoryAnswer {
    const wanted = Math.ceil((seconds * 1_000) / SAMPLE_INTERVAL_MS);
    const samples = Math.min(wanted, this.#samples.length);
    const width = Math.max(1, Math.ceil(samples / HISTORY_POINTS_MAX));
    const points = this.#pointsOf(width).filter(({ from }) => now - from < seconds * 1_000);
    const all = Object.fromEntries(
      COLUMNS.map((name) => [name, points.map((point) => point[name])]),
    ) as Record<Column, (number | null)[]>;
    const { search, lookup, retrieve, other, ...series } = all;
    return {
      interval_seconds: (width * SAMPLE_INTERVAL_MS) / 1_000,
      at: points.map(({ at }) => at / 1_000),
      requests_per_second: { search, lookup, retrieve, other },
      series,
    };
  }

  /** The last points. They are merged once between two samples, however many ask. */
  #pointsOf(width: number): readonly Sample[] {
    const known = this.#points.get(width);
    if (known !== undefined) return known;
    const points: Sample[] = [];
    // Aligned, so that a point has the same samples in every answer.
    let end = this.#samples.length - (this.#taken % width);
    for (; end >= width && points.length < HISTORY_POINTS_MAX; end -= width) {
      points.push(merged(this.#samples.slice(end - width, end)));
    }
    points.reverse();
    this.#points.set(width, points);
    return points;
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

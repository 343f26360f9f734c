import { build, type Histogram } from "hdr-histogram-js";
import type { Ending } from "../harness/load/loops.ts";

/** Microseconds. The highest is a request that was stuck for an hour. */
const LOWEST = 1;
const HIGHEST = 3_600_000_000;
const DIGITS = 3;
/** Bins of the heat map per factor of ten. */
export const BINS_PER_DECADE = 8;
/** The lower edge of the first bin of the heat map, in milliseconds. */
export const FIRST_BIN_MS = 0.1;
const BINS = 6 * BINS_PER_DECADE;

/** Answers count as good within this time from the intended start of their request. */
export const GOOD_MS = 1_000;

/** Latencies in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p99_9: number;
  readonly max: number;
  readonly mean: number;
}

/** Points of the distribution: the share of requests, 0 to 1, and the milliseconds it did not exceed. */
export type Curve = ReadonlyArray<readonly [share: number, milliseconds: number]>;

const CURVE_SHARES = [
  0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1,
];

function newHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: LOWEST,
    highestTrackableValue: HIGHEST,
    numberOfSignificantValueDigits: DIGITS,
    useWebAssembly: false,
  });
}

function record(histogram: Histogram, milliseconds: number): void {
  const value = Math.round(milliseconds * 1_000);
  histogram.recordValue(Math.min(HIGHEST, Math.max(LOWEST, value)));
}

function percentilesOf(histogram: Histogram): Percentiles {
  const at = (percent: number) => histogram.getValueAtPercentile(percent) / 1_000;
  return {
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p99_9: at(99.9),
    max: histogram.maxValue / 1_000,
    mean: histogram.totalCount === 0 ? 0 : histogram.mean / 1_000,
  };
}

/** The bin of the heat map that a latency belongs to. */
export function binOf(milliseconds: number): number {
  const bin = Math.floor(Math.log10(milliseconds / FIRST_BIN_MS) * BINS_PER_DECADE);
  return Math.min(BINS - 1, Math.max(0, bin));
}

/**
 * Latencies of the requests whose intended start is within a window. Answers with 200 and requests
 * without an answer count: who waited in vain has waited. Refusals do not, because they are quick. Throughput
 * counts the answers that came within the window, so that a service which falls behind does not seem to keep up.
 */
export class Recorder {
  /** From the intended start: what a user sees who comes at that time. */
  readonly #response = newHistogram();
  /** From the moment of sending: what the service needs for it. */
  readonly #service = newHistogram();
  readonly #endings = new Map<Ending, number>();
  /** Answers that came within the window, and those of them that came in good time. */
  #came = 0;
  #good = 0;
  /** Requests that were due before the end of the window, and ended after it. */
  #backlog = 0;
  /** Counts per second of the window and bin. */
  readonly #heat: number[][];

  /** @param from,to the window, in milliseconds of `performance.now()` */
  constructor(
    private readonly from: number,
    private readonly to: number,
  ) {
    const seconds = Math.max(1, Math.ceil((to - from) / 1_000));
    this.#heat = Array.from({ length: seconds }, () => new Array<number>(BINS).fill(0));
  }

  add(intended: number, sent: number, ended: number, ending: Ending): void {
    if (ending === 200 && ended >= this.from && ended < this.to) {
      this.#came++;
      if (ended - intended <= GOOD_MS) this.#good++;
    }
    if (intended < this.to && ended >= this.to) this.#backlog++;
    if (intended < this.from || intended >= this.to) return;
    this.#endings.set(ending, (this.#endings.get(ending) ?? 0) + 1);
    if (ending !== 200 && typeof ending === "number") return;
    record(this.#response, ended - intended);
    record(this.#service, ended - sent);
    const row = this.#heat[Math.floor((intended - this.from) / 1_000)] as number[];
    const bin = binOf(ended - intended);
    row[bin] = (row[bin] as number) + 1;
  }

  get answered(): number {
    return this.#endings.get(200) ?? 0;
  }

  result() {
    const seconds = (this.to - this.from) / 1_000;
    const errors = [...this.#endings].filter(([ending]) => ending !== 200);
    const curve = CURVE_SHARES.map(
      (share) => [share, this.#response.getValueAtPercentile(share * 100) / 1_000] as const,
    );
    return {
      /** Answers to the requests that were due within the window, whenever they came. */
      answered: this.answered,
      /** Answers that came within the window. */
      came: this.#came,
      /** The same per second. */
      throughput: this.#came / seconds,
      /** Per second, those that came within GOOD_MS. */
      goodput: this.#good / seconds,
      /** Requests without an answer when the window ended. */
      backlog: this.#backlog,
      /** By status; `timeout` and `closed` had no answer. */
      errors: Object.fromEntries(errors.map(([ending, count]) => [String(ending), count])),
      response: percentilesOf(this.#response),
      service: percentilesOf(this.#service),
      curve: curve as Curve,
      heat: this.#heat as readonly (readonly number[])[],
    };
  }
}

export type Recorded = ReturnType<Recorder["result"]>;

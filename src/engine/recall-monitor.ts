import type { RecallSample } from "../../native/index.ts";
import { joined } from "../../native/owned-bytes.ts";
import {
  RECALL_IDLE_POLL_MS,
  RECALL_INTERVAL_MS,
  RECALL_RECALIBRATE_SAMPLES,
  RECALL_TARGET,
} from "../domain/limits.ts";
import type { SearchRequest } from "./requests/request.ts";

/** Counts of the true best hits of one search. */
interface Sample {
  readonly wanted: number;
  readonly found: number;
  /** The score of the true best hit. */
  readonly best: number;
}

/**
 * The number of kinds of samples, which the scores of their best hits decide. Queries unlike all stored vectors are the
 * hardest to answer, and the mean of all searches hides them.
 */
const KINDS = 4;
/** Samples of each kind from which its recall counts. */
const KIND_SAMPLES_MIN = 16;

const share = ({ wanted, found }: Sample) => found / wanted;

/** The recall of the most recent samples. */
export class RecallWindow {
  readonly #samples: Sample[] = [];
  #next = 0;

  /** @param size maximum number of samples; each further one replaces the oldest */
  constructor(private readonly size: number) {}

  get samples(): number {
    return this.#samples.length;
  }

  /** The share of true best hits that were found, for the kind with the lowest share; null without samples. */
  get recall(): number | null {
    return this.samples === 0 ? null : Math.min(...this.#groups().map(recallOf));
  }

  /** Adds a sample. Skips a search without true hits, which has no recall. */
  add(sample: Sample): void {
    if (sample.wanted === 0) return;
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % this.size;
  }

  clear(): void {
    this.#samples.length = 0;
    this.#next = 0;
  }

  /** True when the recall of all samples or of a kind is below the target by more than chance explains. */
  isBelow(target: number): boolean {
    return this.#groups().some((group) => isBelow(group, target));
  }

  /** All samples, and those of each kind once there are enough. */
  #groups(): Sample[][] {
    const all = this.#samples;
    if (all.length < KINDS * KIND_SAMPLES_MIN) return [all];
    const sorted = all.toSorted((a, b) => a.best - b.best);
    const bound = (kind: number) => Math.floor((kind * sorted.length) / KINDS);
    const kinds = Array.from({ length: KINDS }, (_, kind) =>
      sorted.slice(bound(kind), bound(kind + 1)),
    );
    return [all, ...kinds];
  }
}

function recallOf(samples: readonly Sample[]): number {
  const sum = (field: "wanted" | "found") =>
    samples.reduce((total, sample) => total + sample[field], 0);
  return sum("found") / sum("wanted");
}

/**
 * Whether the mean is below the target by twice its standard error, calculated over searches, because the hits
 * of one search are missed together.
 */
function isBelow(samples: readonly Sample[], target: number): boolean {
  const count = samples.length;
  if (count < 2) return false;
  const mean = samples.reduce((sum, sample) => sum + share(sample), 0) / count;
  const squares = samples.reduce((sum, sample) => sum + (share(sample) - mean) ** 2, 0);
  const error = Math.sqrt(squares / (count - 1) / count);
  return mean + 2 * error < target;
}

const RECALL_WINDOW_SAMPLES = 512;
const RECALL_RECALIBRATE_INTERVAL_MS = 600_000;
/** The samples that are kept per project and dimension. */
const RECALL_INDEX_SAMPLES = 256;
/** Projects and dimensions whose recall is remembered. */
const RECALL_INDEXES_MAX = 1_024;
/** The share of one core's time that measuring may take. */
const RECALL_TIME_SHARE = 0.02;

/** The functions that the monitor measures with and reports to. */
interface RecallSources {
  /** True while no search runs on a worker or waits for one. */
  isIdle(): boolean;
  /** Repeats a search exactly and compares the hits; null when its scope has left memory. */
  measure(request: SearchRequest): Promise<RecallSample | null>;
  /** Called with the recent recall of an index after each of its samples. */
  measured(projectId: string, dimension: number, recall: number, samples: number): void;
  /** Asks for an index to be calibrated again. */
  recalibrate(projectId: string, dimension: number): void;
  failed(error: unknown): void;
}

interface IndexRecall {
  readonly window: RecallWindow;
  recalibratedAt: number;
}

/**
 * Measures the recall of live searches. The monitor holds one search at a time and repeats it exactly when no other
 * search is under way. It then rests long enough that the repetitions take at most RECALL_TIME_SHARE of one core. /
 */
export class RecallMonitor {
  readonly #all = new RecallWindow(RECALL_WINDOW_SAMPLES);
  /** By project and dimension, the most recently used last. */
  readonly #indexes = new Map<string, IndexRecall>();
  #wantsSample = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(private readonly sources: RecallSources) {}

  /** The recall of the recent samples of all indexes; null without any. */
  get recall(): number | null {
    return this.#all.recall;
  }

  /** Offers a search before it runs. Nearly all of them are ignored, and all that are exact anyway. */
  offer(request: SearchRequest): void {
    if (!this.#wantsSample || request.exact) return;
    this.#wantsSample = false;
    // The body itself is transferred to a worker.
    const sample = { ...request, body: joined([request.body]) };
    this.#after(RECALL_IDLE_POLL_MS, () => this.#measureWhenIdle(sample));
  }

  close(): void {
    this.#closed = true;
    this.#wantsSample = false;
    clearTimeout(this.#timer);
  }

  #after(milliseconds: number, work: () => void): void {
    if (this.#closed) return;
    this.#timer = setTimeout(work, milliseconds);
    this.#timer.unref();
  }

  #measureWhenIdle(request: SearchRequest): void {
    if (!this.sources.isIdle()) {
      this.#after(RECALL_IDLE_POLL_MS, () => this.#measureWhenIdle(request));
      return;
    }
    void this.#measure(request);
  }

  async #measure(request: SearchRequest): Promise<void> {
    const startedAt = performance.now();
    try {
      const sample = await this.sources.measure(request);
      if (sample !== null && sample.wanted > 0 && !this.#closed) {
        this.#add(request.scope.projectId, sample);
      }
    } catch (error) {
      this.sources.failed(error);
    }
    const took = performance.now() - startedAt;
    const rest = Math.max(RECALL_INTERVAL_MS, took / RECALL_TIME_SHARE - took);
    this.#after(rest, () => {
      this.#wantsSample = true;
    });
  }

  #add(projectId: string, sample: RecallSample): void {
    const { dimension } = sample;
    const index = this.#indexOf(`${projectId} ${dimension}`);
    const { window } = index;
    this.#all.add(sample);
    window.add(sample);
    this.sources.measured(projectId, dimension, window.recall as number, window.samples);
    const now = performance.now();
    if (now - index.recalibratedAt < RECALL_RECALIBRATE_INTERVAL_MS) return;
    if (window.samples < RECALL_RECALIBRATE_SAMPLES || !window.isBelow(RECALL_TARGET)) return;
    index.recalibratedAt = now;
    // Later samples are measured with the new calibration.
    window.clear();
    this.sources.recalibrate(projectId, dimension);
  }

  #indexOf(key: string): IndexRecall {
    const known = this.#indexes.get(key);
    const index = known ?? {
      window: new RecallWindow(RECALL_INDEX_SAMPLES),
      recalibratedAt: Number.NEGATIVE_INFINITY,
    };
    this.#indexes.delete(key);
    this.#indexes.set(key, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > RECALL_INDEXES_MAX) this.#indexes.delete(oldest as string);
    return index;
  }
}

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

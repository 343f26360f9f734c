/** How many of the true best hits of one search were found. */
interface Sample {
  readonly wanted: number;
  readonly found: number;
}

const share = ({ wanted, found }: Sample) => found / wanted;

/** The recall of the most recent samples. */
export class RecallWindow {
  readonly #samples: Sample[] = [];
  #wanted = 0;
  #found = 0;
  #next = 0;

  /** @param size how many samples are kept; each further one replaces the oldest */
  constructor(private readonly size: number) {}

  get samples(): number {
    return this.#samples.length;
  }

  /** The share of true best hits that were found; null without samples. */
  get recall(): number | null {
    return this.#wanted === 0 ? null : this.#found / this.#wanted;
  }

  /** Adds a sample. A search without true hits says nothing and is left out. */
  add(sample: Sample): void {
    if (sample.wanted === 0) return;
    const oldest = this.#samples[this.#next] ?? { wanted: 0, found: 0 };
    this.#wanted += sample.wanted - oldest.wanted;
    this.#found += sample.found - oldest.found;
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % this.size;
  }

  clear(): void {
    this.#samples.length = 0;
    this.#wanted = this.#found = this.#next = 0;
  }

  /**
   * True when the recall is below the target by more than chance explains: by twice the standard
   * error of the mean, calculated over searches, because the hits of one search are missed together.
   */
  isBelow(target: number): boolean {
    const count = this.#samples.length;
    if (count < 2) return false;
    const mean = this.#samples.reduce((sum, sample) => sum + share(sample), 0) / count;
    const squares = this.#samples.reduce((sum, sample) => sum + (share(sample) - mean) ** 2, 0);
    const error = Math.sqrt(squares / (count - 1) / count);
    return mean + 2 * error < target;
  }
}

/** Fuses scores of texts and vectors as native code does, by the definitions. */

/** As in native/src/retrieval/fusion.cc. */
export const FILES = 50;
export const CHUNKS = 12;
const FIRST_WEIGHT = 0.3;
const FEEDBACK_WEIGHT = 0.7;
const FEEDBACK_ROUNDS = 2;
const FEEDBACK_ITEMS = 4;
const FEEDBACK_SHARE = 4;
const FEEDBACK_DECAY = 0.8;
const NAMED_FROM = 1;
const NAMED_TO = 2.25;

export interface FusedItem {
  /** 0 if the text does not match. */
  readonly keyword: number;
  readonly vector: Float32Array | null;
  readonly cosine: number;
  /** False for a further chunk of a file that is an item itself. */
  readonly counts: boolean;
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** How many standard deviations a value is above the mean of others. */
function standard(values: readonly number[]): (value: number) => number {
  const mean = sum(values) / values.length;
  const deviation = Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length);
  return (value) => (deviation > 1e-9 ? (value - mean) / deviation : 0);
}

export function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

/** The scores of items, 0 to 1. */
export function fuseByReference(items: readonly FusedItem[], maxScore: number): number[] {
  const texts = items.map(({ keyword }) => keyword).filter((keyword) => keyword > 0);
  const best = texts.toSorted((a, b) => b - a).slice(0, FILES);
  const padding = Array.from({ length: FILES - best.length }, () => 0);
  const text = standard([...best, ...padding]);
  const share = maxScore > 0 ? (best[0] ?? 0) / maxScore : 0;
  const named = Math.min(1, Math.max(0, (share - NAMED_FROM) / (NAMED_TO - NAMED_FROM)));

  const counted = items.filter(({ counts, vector }) => counts && vector !== null);
  const scored = (weight: number, similarity: (item: FusedItem) => number) => {
    const vector = standard(counted.map(similarity));
    const own = weight * (1 - named);
    return new Map(
      items.map((item) => {
        const similar = item.vector === null ? 0 : vector(similarity(item));
        return [item, own * similar + (1 - own) * text(item.keyword)];
      }),
    );
  };
  let scores = scored(FIRST_WEIGHT, ({ cosine }) => cosine);
  for (let round = 0; round < FEEDBACK_ROUNDS && counted.length > 0; round++) {
    const scoreOf = (item: FusedItem) => scores.get(item) as number;
    const top = counted.toSorted((a, b) => scoreOf(b) - scoreOf(a)).slice(0, FEEDBACK_ITEMS);
    const highest = scoreOf(top[0] as FusedItem);
    const centre = Array.from(top[0]?.vector as Float32Array, () => 0);
    for (const item of top) {
      const vector = item.vector as Float32Array;
      const length = Math.sqrt(sum([...vector].map((element) => element * element)));
      const weight = Math.exp(FEEDBACK_DECAY * (scoreOf(item) - highest)) / length;
      for (const [i, element] of vector.entries())
        centre[i] = (centre[i] as number) + weight * element;
    }
    scores = scored(FEEDBACK_WEIGHT, ({ cosine, vector }) => {
      return cosine + FEEDBACK_SHARE * (vector === null ? 0 : cosineOf(vector, centre));
    });
  }
  return items.map((item) => 1 / (1 + Math.exp(-(scores.get(item) as number))));
}

/** Fuses scores of texts and vectors as native code does, by the definitions. */

import { cosineOf } from "../../../support/api/versions.ts";
import type { QueryPlan } from "../lookup-reference/plan.ts";

/** As in native/src/retrieval/fusion.cc. */
export const FILES = 50;
export const CHUNKS = 12;
const FIRST_WEIGHT = 0.3;
const FEEDBACK_WEIGHT = { min: 0.33, max: 0.65 };
const AGREEMENT = { none: 0.5, full: 1.25, texts: 10 };
const FEEDBACK_ROUNDS = 2;
const FEEDBACK_ITEMS = 4;
const FEEDBACK_SHARE = 6;
const FEEDBACK_DECAY = 0.8;
const NAMED_FROM = 1;
const NAMED_TO = 2.25;
const COVER_DEVIATION_MIN = 0.01;
const WHOLE_QUERY_SCORE = 0.8;
const MEANING_GROWTH = 1.6;

export interface FusedItem {
  /** 0 if the text does not match. */
  readonly keyword: number;
  readonly vector: Float32Array | null;
  readonly cosine: number;
  /** False for a further chunk of a file that is an item itself. */
  readonly counts: boolean;
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

const clamped = (value: number) => Math.min(1, Math.max(0, value));

interface Statistics {
  readonly mean: number;
  /** 0 if all values are the same. */
  readonly deviation: number;
  /** How many standard deviations a value is above the mean of others. */
  standard(value: number): number;
}

/** @param least of the deviation, unless all values are the same */
function statistics(values: readonly number[], least = 0): Statistics {
  const mean = values.length === 0 ? 0 : sum(values) / values.length;
  const spread = Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length);
  const deviation = spread > 1e-9 ? Math.max(spread, least) : 0;
  return { mean, deviation, standard: (value) => (deviation > 0 ? (value - mean) / deviation : 0) };
}

/** The score of a text that covers this share of the query. */
export const wordsScoreOf = (cover: number) =>
  cover <= 1
    ? WHOLE_QUERY_SCORE * Math.sqrt(Math.max(0, cover))
    : 1 - (1 - WHOLE_QUERY_SCORE) * Math.exp(1 - cover);

const grown = (mean: number) => 1 - Math.exp(-MEANING_GROWTH * clamped(mean));
const meaningScoreOf = (mean: number) => (WHOLE_QUERY_SCORE * grown(mean)) / grown(1);

/** What puts items in order, and their scores, 0 to 1. */
export function fuseByReference(
  items: readonly FusedItem[],
  { maxScore, missingScore }: Pick<QueryPlan, "maxScore" | "missingScore">,
): Array<{ rank: number; score: number }> {
  const whole = maxScore + missingScore;
  const texts = items.map(({ keyword }) => keyword).filter((keyword) => keyword > 0);
  const best = texts.toSorted((a, b) => b - a).slice(0, FILES);
  const padding = Array.from({ length: FILES - best.length }, () => 0);
  const text = statistics([...best, ...padding], COVER_DEVIATION_MIN * whole);
  const share = whole > 0 ? (best[0] ?? 0) / whole : 0;
  const named = clamped((share - NAMED_FROM) / (NAMED_TO - NAMED_FROM));
  const trust = maxScore > 0 ? Math.sqrt(maxScore / whole) : 1;

  const counted = items.filter(({ counts, vector }) => counts && vector !== null);
  const cosines = statistics(counted.map(({ cosine }) => cosine));
  let own = 0;
  let similar = (_: FusedItem) => 0;
  const scored = (weight: number, similarity: (item: FusedItem) => number) => {
    const vectors = statistics(counted.map(similarity));
    own = (1 - (1 - weight) * trust) * (1 - named);
    similar = (item) => (item.vector === null ? 0 : vectors.standard(similarity(item)));
    return new Map(
      items.map((item) => [item, own * similar(item) + (1 - own) * text.standard(item.keyword)]),
    );
  };
  const first = items.filter(({ keyword }) => keyword > 0).slice(0, AGREEMENT.texts);
  const [top] = first;
  const weights = first.map(({ keyword }) =>
    Math.exp(FEEDBACK_DECAY * (text.standard(keyword) - text.standard(top?.keyword ?? 0))),
  );
  const agreeing = first.map(({ vector, cosine }, i) =>
    vector === null ? 0 : (weights[i] as number) * cosines.standard(cosine),
  );
  const agreement = first.length === 0 ? 0 : sum(agreeing) / sum(weights);
  const agreed = clamped((agreement - AGREEMENT.none) / (AGREEMENT.full - AGREEMENT.none));
  const weight = FEEDBACK_WEIGHT.min + agreed * (FEEDBACK_WEIGHT.max - FEEDBACK_WEIGHT.min);
  let scores = scored(FIRST_WEIGHT, ({ cosine }) => cosine);
  for (let round = 0; round < FEEDBACK_ROUNDS && counted.length > 0; round++) {
    const scoreOf = (item: FusedItem) => scores.get(item) as number;
    const chosen = counted.toSorted((a, b) => scoreOf(b) - scoreOf(a)).slice(0, FEEDBACK_ITEMS);
    const highest = scoreOf(chosen[0] as FusedItem);
    const centre = Array.from(chosen[0]?.vector as Float32Array, () => 0);
    for (const item of chosen) {
      const vector = item.vector as Float32Array;
      const length = Math.sqrt(sum([...vector].map((element) => element * element)));
      const weight = Math.exp(FEEDBACK_DECAY * (scoreOf(item) - highest)) / length;
      for (const [i, element] of vector.entries())
        centre[i] = (centre[i] as number) + weight * element;
    }
    scores = scored(weight, ({ cosine, vector }) => {
      return cosine + FEEDBACK_SHARE * (vector === null ? 0 : cosineOf(vector, centre));
    });
  }
  let [meaning, cover] = [own, 1 - own];
  if (cosines.deviation > 0 && text.deviation > 0) {
    meaning = own / cosines.deviation;
    cover = ((1 - own) * whole) / text.deviation;
  }
  return items.map((item) => {
    const cosine = cosines.mean + cosines.deviation * similar(item);
    const covered = whole > 0 ? item.keyword / whole : 0;
    const rank = (meaning * cosine + cover * covered) / (meaning + cover);
    return { rank, score: Math.max(meaningScoreOf(rank), wordsScoreOf(covered)) };
  });
}

import { normalNumbers, randomNumbers } from "../../support/random.ts";

/**
 * Vectors as a sentence encoder makes them: a common direction, of which each has another share, a spectrum that
 * decays, and topics. Questions have fewer topics and hardly any of the common direction, so they are far from
 * all that is stored, and their nearest chunks are rarely near to each other.
 */
const TOPICS = 120;
const SPECTRUM = -0.6;
export const DOCUMENTS = { topics: 3, noise: 0.8, leastCommon: 0.1, mostCommon: 0.85 };
export const QUESTIONS = { topics: 2, noise: 1, leastCommon: 0.05, mostCommon: 0.05 };

function scaled(vector: Float32Array, length: number): Float32Array {
  const factor = length / Math.hypot(...vector);
  return vector.map((element) => element * factor);
}

export type EncodedKind = typeof DOCUMENTS;

/** Draws embeddings of a kind, one at each call: the same seed draws the same ones. */
export function encoder(dimension: number, seed: number) {
  const normal = normalNumbers(seed);
  const uniform = randomNumbers(seed + 1);
  const spectrum = scaled(
    Float32Array.from({ length: dimension }, (_, i) => (i + 1) ** SPECTRUM),
    1,
  );
  const drawn = (weight: number) => spectrum.map((s) => weight * s * normal());
  const topics = Array.from({ length: TOPICS }, () => drawn(1));
  const common = scaled(
    spectrum.map(() => normal()),
    1,
  );
  return (kind: EncodedKind): Float32Array<ArrayBuffer> => {
    const own = drawn(kind.noise);
    for (let part = 0; part < kind.topics; part++) {
      // Squaring favours the first topics, as some subjects are written about more than others.
      const topic = topics[Math.floor(uniform() ** 2 * TOPICS)] as Float32Array;
      const weight = uniform();
      for (let i = 0; i < dimension; i++)
        own[i] = (own[i] as number) + weight * (topic[i] as number);
    }
    const share = kind.leastCommon + (kind.mostCommon - kind.leastCommon) * uniform();
    const special = scaled(own, Math.sqrt(1 - share));
    return Float32Array.from(special, (s, i) => s + Math.sqrt(share) * (common[i] as number));
  };
}

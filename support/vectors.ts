import { normalNumbers, randomNumbers } from "./random.ts";

/** Seeded vectors: the same arguments give the same vectors. */

/**
 * - clusters: similar to embeddings of text: 300 clusters in a latent space of 64 dimensions,
 *   projected by a random matrix, with noise in all dimensions
 * - uniform: no structure
 * - duplicates: the clusters, but each vector about 20 times, with little noise
 * - text: like embeddings of real text: a few of 400 topics each, which are of unequal weight, and a
 *   spectrum that decays slowly over all dimensions
 * - sparse: feature hashing, at most 40 elements are not zero
 */
export type DataKind = "clusters" | "uniform" | "duplicates" | "text" | "sparse";

const CLUSTERS = 300;
const LATENT = 64;
const SPREAD = 0.5;
const NOISE = 0.02;
const FEATURES = 40;
const COPIES = 20;
const COPY_NOISE = 0.05;
const TOPICS = 400;
const TOPICS_PER_TEXT = 3;
/** The standard deviation of dimension i is proportional to (i + 1) to this power. */
const SPECTRUM = -0.45;
const TEXT_NOISE = 0.6;

function normalise(vector: Float32Array): void {
  let squares = 0;
  for (const element of vector) squares += element * element;
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale;
}

function fillClustered(vectors: Float32Array[], dimension: number, seed: number): void {
  const normal = normalNumbers(seed);
  const centres = Float32Array.from({ length: CLUSTERS * LATENT }, normal);
  const projection = Float32Array.from({ length: LATENT * dimension }, normal);
  // Reading precomputed noise from a random offset is much cheaper than drawing it per vector.
  const noise = Float32Array.from({ length: dimension * 64 }, () => normal() * NOISE * 8);
  const uniform = randomNumbers(seed + 1);
  for (const vector of vectors) {
    const cluster = Math.floor(uniform() * CLUSTERS);
    const offset = Math.floor(uniform() * dimension * 63);
    for (let i = 0; i < dimension; i++) vector[i] = noise[offset + i] as number;
    for (let l = 0; l < LATENT; l++) {
      const latent = (centres[cluster * LATENT + l] as number) + normal() * SPREAD;
      const base = l * dimension;
      for (let i = 0; i < dimension; i++) {
        vector[i] = (vector[i] as number) + latent * (projection[base + i] as number);
      }
    }
  }
}

function fillDuplicated(vectors: Float32Array[], dimension: number, seed: number): void {
  const originals = Array.from({ length: Math.ceil(vectors.length / COPIES) }, () => {
    return new Float32Array(dimension);
  });
  fillClustered(originals, dimension, seed);
  for (const original of originals) normalise(original);
  const normal = normalNumbers(seed + 2);
  const uniform = randomNumbers(seed + 3);
  const scale = COPY_NOISE / Math.sqrt(dimension);
  for (const vector of vectors) {
    const original = originals[Math.floor(uniform() * originals.length)] as Float32Array;
    for (let i = 0; i < dimension; i++) vector[i] = (original[i] as number) + normal() * scale;
  }
}

function fillText(vectors: Float32Array[], dimension: number, seed: number): void {
  const normal = normalNumbers(seed);
  const uniform = randomNumbers(seed + 1);
  const spectrum = Float32Array.from({ length: dimension }, (_, i) => (i + 1) ** SPECTRUM);
  const topics = Array.from({ length: TOPICS }, () =>
    Float32Array.from(spectrum, (s) => s * normal()),
  );
  for (const vector of vectors) {
    for (let i = 0; i < dimension; i++) vector[i] = TEXT_NOISE * (spectrum[i] as number) * normal();
    for (let part = 0; part < TOPICS_PER_TEXT; part++) {
      // Squaring favours the first topics, as some subjects are written about more than others.
      const topic = topics[Math.floor(uniform() ** 2 * TOPICS)] as Float32Array;
      const weight = uniform();
      for (let i = 0; i < dimension; i++) {
        vector[i] = (vector[i] as number) + weight * (topic[i] as number);
      }
    }
  }
}

/** `count` vectors of unit length in one array. */
export function makeVectors(
  kind: DataKind,
  count: number,
  dimension: number,
  seed: number,
): Float32Array<ArrayBuffer> {
  const all = new Float32Array(count * dimension);
  const vectors = Array.from({ length: count }, (_, i) =>
    all.subarray(i * dimension, (i + 1) * dimension),
  );
  if (kind === "clusters") {
    fillClustered(vectors, dimension, seed);
  } else if (kind === "duplicates") {
    fillDuplicated(vectors, dimension, seed);
  } else if (kind === "text") {
    fillText(vectors, dimension, seed);
  } else {
    const normal = normalNumbers(seed);
    const uniform = randomNumbers(seed + 1);
    for (const vector of vectors) {
      if (kind === "uniform") {
        for (let i = 0; i < dimension; i++) vector[i] = normal();
      } else {
        for (let feature = 0; feature < FEATURES; feature++) {
          // Squaring favours low positions, as some words are frequent and others rare.
          const position = Math.floor(uniform() ** 2 * dimension);
          vector[position] = (vector[position] as number) + (uniform() < 0.5 ? -1 : 1);
        }
        vector[0] = (vector[0] as number) + 0.5;
      }
    }
  }
  for (const vector of vectors) normalise(vector);
  return all;
}

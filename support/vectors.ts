import { normalNumbers, randomNumbers } from "./random.ts";

/** Seeded vectors: the same arguments give the same vectors. */

/**
 * - clusters: similar to embeddings of text: 300 clusters in a latent space of 64 dimensions,
 *   projected by a random matrix, with noise in all dimensions
 * - uniform: no structure
 * - sparse: feature hashing, at most 40 elements are not zero
 */
export type DataKind = "clusters" | "uniform" | "sparse";

const CLUSTERS = 300;
const LATENT = 64;
const SPREAD = 0.5;
const NOISE = 0.02;
const FEATURES = 40;

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

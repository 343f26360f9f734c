import { expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import { hashProbes } from "../../native/testing.ts";
import { randomNumbers } from "../../support/random.ts";
import { appendAll, opened } from "./support.ts";

const DIMENSION = 768;
const VECTORS = 2_000;
/** Slots that are looked at for a vector, on average: two in a table that is three quarters full. */
const PROBES_MAX = 4;

const MASK = (1n << 64n) - 1n;
const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;

const rotated = (value: bigint, bits: bigint) => ((value << bits) | (value >> (64n - bits))) & MASK;

/** The inverse of an odd number modulo 2^64, by Newton's iteration. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let i = 0; i < 6; i++) found = (found * (2n - odd * found)) & MASK;
  return found;
}

/** The first lane of the checksum after a word, and the word that leads from one state of it to another. */
const after = (lane: bigint, word: bigint) => (rotated((lane + word * P2) & MASK, 31n) * P1) & MASK;
const between = (from: bigint, to: bigint) =>
  ((rotated((to * inverse(P1)) & MASK, 33n) - from) * inverse(P2)) & MASK;

const isUsual = (value: number | undefined) =>
  value !== undefined && Math.abs(value) > 1e-3 && Math.abs(value) < 1e3;

/** Different vectors that all have one checksum, that of `native/src/common/checksum.cc`. */
function colliding(random: () => number): Float32Array<ArrayBuffer> {
  const vectors = new Float32Array(VECTORS * DIMENSION).fill(0.5);
  const words = new BigUint64Array(vectors.buffer);
  const pair = new Float32Array(2);
  const word = new BigUint64Array(pair.buffer);
  for (let i = 0; i < VECTORS; ) {
    pair.set([random() - 0.5, random() - 0.5]);
    const first = word[0] as bigint;
    word[0] = between(after((P1 + P2) & MASK, first), 1n);
    if (!pair.every(isUsual)) continue;
    // The lane takes every fourth word.
    words[(i * DIMENSION) / 2] = first;
    words[(i * DIMENSION) / 2 + 4] = word[0];
    i++;
  }
  return vectors;
}

test("vectors that are made to collide are found among as few others as any", () => {
  const project = opened();
  appendAll(project, DIMENSION, colliding(randomNumbers(1)));
  expect(native.stats(project)?.dimensions[0]?.distinct).toBe(VECTORS);
  // Hashed by the checksum, each is compared with all that were stored before.
  expect(hashProbes(project, DIMENSION)).toBeLessThan(PROBES_MAX * VECTORS);
  native.dropProject(project);
});

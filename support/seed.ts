import { randomNumbers } from "./random.ts";

/** Set this variable to the seed that a failed run has printed, to repeat its random choices. */
export const SEED_VARIABLE = "TESSERA_TEST_SEED";

/** Seed of all random tests of this process. */
export const SEED = readSeed(process.env[SEED_VARIABLE]);

/** Draws numbers in [0, 1) from the seed of this process. Replaces `Math.random` in tests. */
export const random = randomNumbers(SEED);

function readSeed(given: string | undefined): number {
  if (given === undefined) return crypto.getRandomValues(new Uint32Array(1))[0] as number;
  const seed = Number(given);
  if (!Number.isSafeInteger(seed)) throw new Error(`${SEED_VARIABLE} needs a whole number`);
  return seed;
}

/** How to repeat the random choices of this process. */
export const seedNotice = `random seed ${SEED}, repeat with ${SEED_VARIABLE}=${SEED}`;

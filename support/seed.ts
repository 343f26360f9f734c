import { randomNumbers } from "./random.ts";

/** The variable with the seed of a run: a failed one prints it, and repeats its random choices with it. */
export const SEED_VARIABLE = "TESSERA_TEST_SEED";
/** Without that variable the choices of every run are the same. */
const FIXED_SEED = 1;

/** The variable with the number of times that the tests at length go on. */
export const LENGTH_VARIABLE = "TESSERA_TEST_LENGTH";

/** Seed of all random tests of this process. */
export const SEED = wholeNumber(SEED_VARIABLE, FIXED_SEED);

/** By this factor the random tests in test/long are longer than usual. */
export const LENGTH = wholeNumber(LENGTH_VARIABLE, 1);

/** Draws numbers in [0, 1) from the seed of this process. Replaces `Math.random` in tests. */
export const random = randomNumbers(SEED);

/** A seed that no run has had before. */
export function freshSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] as number;
}

function wholeNumber(variable: string, otherwise: number): number {
  const number = Number(process.env[variable] ?? otherwise);
  if (!Number.isSafeInteger(number)) throw new Error(`${variable} needs a whole number`);
  return number;
}

/** How to repeat the random choices of this process. */
export const seedNotice = `random seed ${SEED}, repeat with ${SEED_VARIABLE}=${SEED}`;

import { expect, test } from "bun:test";
import { execute } from "../../../scripts/test-process.ts";
import { SEED } from "../../../support/seed.ts";

/** Mutants that a run of all tests has time for. */
const SAMPLE = 20;
/** Several times as long as a busy machine takes. */
const LIMIT_MS = 1_100_000;

test(
  `${SAMPLE} of the lines in test/mutants are broken one at a time, and each is noticed`,
  async () => {
    const args = ["--sample", String(SAMPLE), "--seed", String(SEED)];
    const { status, output } = await execute(["scripts/mutants.ts", ...args], process.env);
    const survivors = output.split("\n").filter((line) => /^(SURVIVED|UNKNOWN)/.test(line));
    expect(survivors).toEqual([]);
    expect(status, output).toBe(0);
  },
  LIMIT_MS,
);

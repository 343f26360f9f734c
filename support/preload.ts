import { afterAll } from "bun:test";
import fc from "fast-check";
import { cleanUp } from "./cleanup.ts";
import { SEED, seedNotice } from "./seed.ts";

const CLEAN_UP_TIMEOUT_MS = 120_000;

// fast-check's seeds are signed 32-bit integers.
fc.configureGlobal({ seed: SEED | 0 });
// The test command shows the output of failed test processes only.
process.stderr.write(`${seedNotice}\n`);

// Registered outside any test file, this runs once, after the last test of the process.
afterAll(cleanUp, CLEAN_UP_TIMEOUT_MS);

import { afterAll, beforeEach } from "bun:test";
import fc from "fast-check";
import { cleanUp } from "./cleanup.ts";
import { SEED, seedNotice } from "./seed.ts";

const CLEAN_UP_TIMEOUT_MS = 120_000;

// fast-check's seeds are signed 32-bit integers.
fc.configureGlobal({ seed: SEED | 0 });
// The test command shows the output of failed test processes only.
process.stderr.write(`${seedNotice}\n`);

// Services that nothing uses any more take processor time and memory from the tests of the next files. A hook that
// is registered here runs for all files, and this one finds the first test of each.
let file = Bun.main;
beforeEach(async () => {
  if (Bun.main === file) return;
  const last = file;
  file = Bun.main;
  await cleanUp(last);
}, CLEAN_UP_TIMEOUT_MS);
// Registered outside any test file, this runs once, after the last test of the process.
afterAll(() => cleanUp(), CLEAN_UP_TIMEOUT_MS);

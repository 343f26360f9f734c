import { afterAll, setDefaultTimeout } from "bun:test";
import { cleanUp } from "./cleanup.ts";

/** A test measures what is true, not how fast: only a test that hangs ends here. */
const TIMEOUT_MS = 120_000;

setDefaultTimeout(TIMEOUT_MS);
// Registered outside any test file, this runs once, after the last test of the process.
afterAll(cleanUp, TIMEOUT_MS);

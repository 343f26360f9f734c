import { afterAll } from "bun:test";
import { cleanUp } from "../../support/cleanup.ts";

const TIMEOUT_MS = 120_000;

// Registered outside any test file, this runs once, after the last test of the process.
afterAll(cleanUp, TIMEOUT_MS);

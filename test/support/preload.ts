import { afterAll } from "bun:test";
import { cleanUp } from "./cleanup.ts";

// Registered outside any test file, this runs once, after the last test of the process.
afterAll(cleanUp);

import { test } from "bun:test";
import { terminateThreads } from "../../native/terminating.ts";

/** Enough that the wrappers of node-addon-api, which end the process, fail this test nearly always. */
const LOADER_ROUNDS = 40;
const JOB_ROUNDS = 15;

test("terminating threads at many moments while they use the addon never ends the process", () => {
  terminateThreads("loader", LOADER_ROUNDS);
  terminateThreads("jobs", JOB_ROUNDS);
});

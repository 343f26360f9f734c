import { test } from "bun:test";
import { terminateThreads } from "./terminating.ts";

test("terminating threads while they load the addon or call it never ends the process", () => {
  terminateThreads("loader", 15);
});

test("terminating threads while they wait for jobs of the addon never ends the process", () => {
  terminateThreads("jobs", 5);
});

import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";

/** Enough that the wrappers of node-addon-api, which end the process, fail this test nearly always. */
const LOADER_ROUNDS = 40;
/** Each terminates several threads that wait for several jobs. */
const JOB_ROUNDS = 15;

function terminateThreads(kind: "loader" | "jobs", rounds: number): void {
  const script = join(import.meta.dir, "terminated-threads.ts");
  const result = Bun.spawnSync([
    process.execPath,
    script,
    kind,
    String(rounds),
    temporaryFolder(kind),
  ]);
  expect(result.stderr.toString()).toBe("");
  expect(result.exitCode).toBe(0);
  expect(result.stdout.toString()).toBe(`${4 * rounds}\n`);
}

test("terminating threads while they load the addon or call it never ends the process", () => {
  terminateThreads("loader", LOADER_ROUNDS);
});

test("terminating threads while they wait for jobs of the addon never ends the process", () => {
  terminateThreads("jobs", JOB_ROUNDS);
});

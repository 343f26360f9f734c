import { expect, test } from "bun:test";
import { join } from "node:path";

/** Enough that the wrappers of node-addon-api, which end the process, fail this test nearly always. */
const ROUNDS = 40;

test("terminating threads while they load the addon or call it never ends the process", () => {
  const script = join(import.meta.dir, "terminated-threads.ts");
  const result = Bun.spawnSync([process.execPath, script, String(ROUNDS)]);
  expect(result.stderr.toString()).toBe("");
  expect(result.exitCode).toBe(0);
  expect(result.stdout.toString()).toBe(`${4 * ROUNDS}\n`);
}, 120_000);

import { expect } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";

/** Terminates several threads a round that load the addon, or wait for several of its jobs. */
export function terminateThreads(kind: "loader" | "jobs", rounds: number): void {
  const script = join(import.meta.dir, "terminated-threads.ts");
  const args = [script, kind, String(rounds), temporaryFolder(kind)];
  const result = Bun.spawnSync([process.execPath, ...args]);
  expect(result.stderr.toString()).toBe("");
  expect(result.exitCode).toBe(0);
  expect(result.stdout.toString()).toBe(`${4 * rounds}\n`);
}

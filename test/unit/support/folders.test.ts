import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeAbandonedFolders, temporaryFolder } from "../../../support/folders.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";

const PROGRAM = `
  const { temporaryFolder } = await import("./support/folders.ts");
  console.log(temporaryFolder("child"));
  await new Promise(() => setInterval(() => {}, 1000));
`;

/** A process with a folder below `base`. */
async function start(base: string) {
  const program = Bun.spawn([process.execPath, "-e", PROGRAM], {
    ...{ cwd: PROJECT_ROOT, env: { ...process.env, TMPDIR: base }, stdout: "pipe" },
  });
  const { value } = await program.stdout.getReader().read();
  const folder = new TextDecoder().decode(value).trim();
  const kill = async () => {
    program.kill("SIGKILL");
    await program.exited;
  };
  return { folder, kill };
}

test("only the folders of processes that have ended are removed", async () => {
  const base = temporaryFolder("base");
  const [killed, running] = await Promise.all([start(base), start(base)]);
  await killed.kill();
  // One that another process creates just now, and one that looks as if a process that has ended had made it.
  const beginning = mkdtempSync(join(base, "tessera-tests-"));
  const foreign = mkdtempSync(join(base, "tessera-tests-4194305-data-"));
  writeFileSync(join(foreign, "file"), "");
  const seen: string[] = [];
  await removeAbandonedFolders(async (contents) => void seen.push(...contents), [base]);
  expect(seen).toContain(killed.folder);
  expect(seen).not.toContain(running.folder);
  const folders = [killed.folder, running.folder, beginning, foreign];
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true, true]);

  const left = running.folder;
  await running.kill();
  await removeAbandonedFolders(() => Promise.reject(new Error("its server does not end")), [base]);
  expect(existsSync(left)).toBe(true);
});

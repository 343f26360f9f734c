import { expect, test } from "bun:test";
import { createWriteStream, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/folders.ts";
import { ndjson } from "../../../support/ndjson.ts";
import { FRAME, largeFiles, openCli, spawnImport } from "../../cli/support.ts";

const MEBIBYTE = 1_048_576;
const LARGE_FILES = 200;

/**
 * The peak resident memory of an import, in bytes. The system's figure for a process that has exited
 * includes that of its parent, so it cannot be used.
 */
async function peakMemory(child: ReturnType<typeof spawnImport>): Promise<number> {
  let peak = 0;
  while (child.exitCode === null) {
    const status = await Bun.file(`/proc/${child.pid}/status`)
      .text()
      .catch(() => "");
    const kibibytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    peak = Math.max(peak, kibibytes * 1_024);
    await Bun.sleep(5);
  }
  expect(child.exitCode).toBe(0);
  return peak;
}

test("an import needs no more memory than a few batches", async () => {
  const cli = await openCli();
  // The same files again and again, which PostgreSQL stores once: all of them are read.
  const path = join(temporaryFolder("large"), "large.ndjson");
  const lines = ndjson(FRAME) + [...largeFiles(0, LARGE_FILES, 16_000)].join("");
  const file = createWriteStream(path);
  for (let i = 0; i < 10; i++) file.write(lines);
  await new Promise<void>((done) => file.end(done));
  const size = statSync(path).size;
  const env = { DATABASE_URL: cli.database.url };
  const small = await peakMemory(spawnImport(env, cli.file(FRAME)));
  const growth = (await peakMemory(spawnImport(env, path))) - small;
  // An import that read the whole file would need at least twice its size, for lines and parameters.
  // The bound does not depend on the size of the file.
  const bound = 320 * MEBIBYTE;
  expect(size).toBeGreaterThan(bound);
  expect(growth).toBeGreaterThan(0);
  expect(growth).toBeLessThan(bound);
});

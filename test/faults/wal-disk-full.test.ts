import { expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { cpSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../support/processes/embedded.ts";
import { startServer } from "../../support/processes/process.ts";
import { giveToOwnerOf, mountSmallDisk } from "../../support/processes/small-disk.ts";

setDefaultTimeout(120_000);

const DISK_MB = 400;
const WAIT_MS = 60_000;
/** Together more than what is left of a file of the log, which has 16 MB. */
const FILES = 1_100;
const BYTES_A_FILE = 12_000;

/** The key of the demo project, which is printed after the address. */
async function printedKey(logs: () => string): Promise<string> {
  for (;;) {
    const key = /(tsr_\w+) +\(shown only once\)/.exec(logs())?.[1];
    if (key !== undefined) return key;
    await Bun.sleep(10);
  }
}

test("when the disk of PostgreSQL's log is full requests get 503, and space ends it without a restart of the service", async () => {
  const DATA_DIR = dataFolder();
  const env = { DATA_DIR, DEMO: "on" };
  const first = await startServer({ env });
  const key = await printedKey(() => first.logs());
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);

  const disk = mountSmallDisk(DISK_MB);
  const cluster = join(DATA_DIR, "postgres", "cluster");
  const log = join(cluster, "pg_wal");
  const moved = join(disk.path, "wal");
  cpSync(log, moved, { recursive: true });
  for (const path of [disk.path, moved]) giveToOwnerOf(path, cluster);
  const { stdout } = Bun.spawnSync(["find", moved]);
  for (const path of stdout.toString().trim().split("\n")) giveToOwnerOf(path, cluster);
  rmSync(log, { recursive: true });
  symlinkSync(moved, log);

  const { url } = await startServer({ env });
  const headers = { "x-api-key": key, "content-type": "application/x-ndjson" };
  const importFiles = (files: number) => {
    const records = Array.from({ length: files }, (_, i) =>
      JSON.stringify({
        ...{ record: "file", project: "demo", path: `${i}.md`, version: "1" },
        chunks: [{ content: randomBytes(BYTES_A_FILE).toString("base64") }],
      }),
    );
    const body = records.join("\n");
    return fetch(`${url}/projects/demo/import`, { method: "POST", headers, body });
  };
  const read = () => fetch(`${url}/projects/demo`, { headers: { "x-api-key": key } });
  const until = async (status: number) => {
    const deadline = Date.now() + WAIT_MS;
    while ((await read()).status !== status && Date.now() < deadline) await Bun.sleep(50);
    expect((await read()).status).toBe(status);
  };

  disk.fill();
  const refused = await importFiles(FILES);
  expect(refused.status).toBe(503);
  expect((await refused.json()) as object).toMatchObject({ slug: "dependency-unavailable" });
  // PostgreSQL has ended, and cannot start without space for its log.
  await until(503);
  disk.free();
  await until(200);
  expect((await importFiles(1)).status).toBe(200);
});

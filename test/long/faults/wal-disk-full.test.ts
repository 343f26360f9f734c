import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openDatabase, type Sql } from "../../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../../src/db/embedded.ts";
import { addApiKey, addProject, addUser } from "../../../support/accounts.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { startServer } from "../../../support/processes/process.ts";
import {
  giveToOwnerOf,
  lacksSmallDisks,
  mountSmallDisk,
} from "../../../support/processes/small-disk.ts";
import { until } from "../../../support/until.ts";

const DISK_MB = 128;
/** Together more than what is left of a file of the log. */
const FILES = 40;
const BYTES_A_FILE = 12_000;
/** The size of a file of the log, and what is left of the last one. */
const SEGMENT_BYTES = 16_777_216;
const LEFT_BYTES = 65_536;

/** Creates the database of a service, with its log on a disk of its own. */
async function createDatabase(dataDir: string, disk: string): Promise<void> {
  await (await openEmbeddedDatabase({ dataDir, log: () => {} })).close();
  const cluster = join(dataDir, "postgres", "cluster");
  const log = join(cluster, "pg_wal");
  const moved = join(disk, "wal");
  Bun.spawnSync(["cp", "-a", log, moved]);
  giveToOwnerOf(disk, cluster);
  rmSync(log, { recursive: true });
  symlinkSync(moved, log);
}

/** Writes to the log until little is left of its last file. */
async function useUpLog(sql: Sql, folder: string): Promise<void> {
  // In a transaction, whose commit flushes it: a restart would take back what was not flushed.
  const write = (bytes: number) =>
    sql`SELECT pg_logical_emit_message(true, 'filler', repeat('x', ${bytes}))`;
  for (;;) {
    const [at] = await sql<[{ file: string; used: number }]>`
      SELECT f.file_name AS file, f.file_offset AS used
      FROM pg_walfile_name_offset(pg_current_wal_insert_lsn()) AS f`;
    const isLast = readdirSync(folder).every(
      (name) => !/^[0-9A-F]{24}$/.test(name) || name <= at.file,
    );
    const left = SEGMENT_BYTES - at.used - LEFT_BYTES;
    if (isLast && left < LEFT_BYTES) return;
    await write(Math.max(left, LEFT_BYTES / 2));
  }
}

test.skipIf(lacksSmallDisks())(
  "when the disk of PostgreSQL's log is full requests get 503, and space ends it without a restart of the service",
  async () => {
    const disk = await mountSmallDisk(DISK_MB);
    const dataDir = dataFolder();
    await createDatabase(dataDir, disk.path);
    const { url } = await startServer({ env: { DATA_DIR: dataDir } });

    const database = await openEmbeddedDatabase({ dataDir, log: () => {} });
    const sql = openDatabase(database.url, { connections: 1 });
    const user = await addUser(sql);
    const { slug } = await addProject(sql, user);
    const { key } = await addApiKey(sql, user);
    const headers = { "x-api-key": key };
    const importFiles = (files: number) => {
      const records = Array.from({ length: files }, (_, i) =>
        JSON.stringify({
          record: "file",
          project: slug,
          path: `${i}.md`,
          version: "1",
          chunks: [{ content: randomBytes(BYTES_A_FILE).toString("base64") }],
        }),
      );
      return fetch(`${url}/projects/${slug}/import`, {
        method: "POST",
        body: records.join("\n"),
        headers: { ...headers, "content-type": "application/x-ndjson" },
      });
    };
    const read = () => fetch(`${url}/projects/${slug}`, { headers });
    const untilAnswered = (status: number) =>
      until(`a read is answered ${status}`, async () => (await read()).status === status);
    await untilAnswered(200);

    await useUpLog(sql, join(disk.path, "wal"));
    // Only the service is left as a user, who starts PostgreSQL again when it has ended.
    await sql.end();
    await database.close();
    await using filled = disk.fill();
    const refused = await importFiles(FILES);
    expect(refused.status).toBe(503);
    expect((await refused.json()) as object).toMatchObject({ slug: "dependency-unavailable" });
    // PostgreSQL has ended, and cannot start without space for its log.
    await untilAnswered(503);
    await filled.end();
    await untilAnswered(200);
    expect((await importFiles(1)).status).toBe(200);
  },
);

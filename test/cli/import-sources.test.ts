import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { until } from "../../support/until.ts";
import {
  contentsOf,
  dump,
  FRAME,
  largeFiles,
  openCli,
  spawnImport,
  type TestCli,
} from "./support.ts";

/** Several batches of an import. */
const LARGE_FILES = 110;
const FILES = Array.from({ length: 30 }, (_, i) => ({
  record: "file",
  project: "docs",
  path: `${i}.md`,
  environments: ["production"],
  content: `file ${i}`,
}));

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

const imported = async () =>
  Object.keys(await contentsOf(cli.sql, "environment", "production")).length;

describe("the sources of an import", () => {
  test("can be plain and compressed files, read in order", async () => {
    const folder = temporaryFolder("sources");
    const plain = cli.file(FRAME);
    const gzip = join(folder, "a.ndjson.gz");
    const zstd = join(folder, "b.ndjson.zst");
    await Bun.write(gzip, gzipSync(ndjson(FILES.slice(0, 15))));
    await Bun.write(zstd, zstdCompressSync(ndjson(FILES.slice(15))));
    const result = await cli.run(["import", plain, gzip, zstd]);
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(await imported()).toBe(FILES.length);
  });

  test("can be standard input, which is called - in reports", async () => {
    const text = `${ndjson([...FRAME, ...FILES])}{"record":"nope"}`;
    const result = await cli.run(["import", "-"], text.replaceAll("\n", "\r\n"));
    expect(result.status).toBe(1);
    expect(result.stderr).toStartWith(`-:${FRAME.length + FILES.length + 1}: record: "nope"`);
    expect(await imported()).toBe(FILES.length);
  });

  test("can begin with a byte order mark and contain blank lines, which are counted", async () => {
    const path = cli.file([]);
    await Bun.write(path, `\uFEFF\n\n  \n${ndjson(FRAME)}\n{"record":"nope"}\n`);
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toStartWith(`${path}:8: record: "nope"`);
    expect(result.stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("can be damaged: the readable part is imported and the position is reported", async () => {
    const path = join(temporaryFolder("damaged"), "cut.ndjson.gz");
    const whole = gzipSync(ndjson([...FRAME, ...FILES]));
    await Bun.write(path, whole.subarray(0, whole.length - 20));
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toStartWith(`${path}:`);
    expect(result.stderr).toContain("the rest of the file cannot be read");
  });

  test("must all exist before anything is imported", async () => {
    const before = await dump(cli.sql);
    const missing = await cli.run(["import", cli.file(FRAME), "/nowhere/x.ndjson"]);
    expect(missing).toMatchObject({ status: 1, stdout: "" });
    expect(missing.stderr).toBe("tessera: /nowhere/x.ndjson cannot be read: no such file\n");
    const folder = await cli.run(["import", temporaryFolder("folder")]);
    expect(folder.status).toBe(1);
    expect(folder.stderr).toContain("is a folder: use --markdown");
    expect(await dump(cli.sql)).toEqual(before);
  });
});

describe("a large import", () => {
  test("that is killed changes no scope, and repeating it gives the same result as a single import", async () => {
    const lines = [ndjson(FRAME), ...largeFiles(0, LARGE_FILES)];
    const path = join(temporaryFolder("large"), "large.ndjson");
    await Bun.write(path, lines.join(""));

    const child = spawnImport({ DATABASE_URL: cli.database.url }, "-");
    const chunks = async () => {
      const [row] = await cli.sql`SELECT count(*)::integer AS count FROM chunks`;
      return row?.["count"] as number;
    };
    // Its input does not end, so the import is under way when it is killed.
    const written = Promise.resolve(child.stdin.write(lines.slice(0, -1).join(""))).catch(() => {});
    await until("the import has written chunks", async () => {
      return (await chunks()) > 0 || child.exitCode !== null;
    });
    child.kill("SIGKILL");
    await child.exited;
    await written;
    expect(child.signalCode).toBe("SIGKILL");
    expect(await imported()).toBe(0);
    expect(await contentsOf(cli.sql, "release", "v1")).toEqual({});

    expect((await cli.run(["import", path])).status).toBe(0);
    const fresh = await openCli();
    expect((await fresh.run(["import", path])).status).toBe(0);
    expect(await imported()).toBe(LARGE_FILES);
    expect(await content(cli)).toEqual(await content(fresh));
  });

  test("that is interrupted stops the embedded PostgreSQL that it started", async () => {
    const DATA_DIR = await folderWithCluster();
    const child = spawnImport({ DATA_DIR }, "-");
    const pidFile = join(DATA_DIR, "postgres", "cluster", "postmaster.pid");
    await until("PostgreSQL has written its process id", () => existsSync(pidFile));
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(existsSync(pidFile)).toBe(false);
  });

  /** A hash of all imported rows without their timestamps. */
  async function content({ sql }: TestCli) {
    const rows = await sql`
      SELECT id::text, content, embedding::text FROM chunks
      UNION ALL SELECT id::text, version_key, chunk_count::text FROM file_versions
      UNION ALL SELECT release_id::text, file_id::text, file_version_id::text FROM release_files
      UNION ALL SELECT environment_id::text, file_id::text, file_version_id::text FROM environment_files
      UNION ALL SELECT id::text, name, (frozen_at IS NOT NULL)::text FROM releases
      ORDER BY 1, 2, 3`;
    return new Bun.CryptoHasher("sha256").update(JSON.stringify(rows)).digest("hex");
  }
});

import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { until } from "../../support/until.ts";
import {
  answerOf,
  open,
  otherUser,
  processesOf,
  query,
  serverProcess,
} from "./embedded-clusters.ts";

describe("the embedded PostgreSQL", () => {
  test("committed data is there after the last user has left and a new one has joined", async () => {
    const dataDir = dataFolder();
    const first = await open(dataDir);
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await first.close();
    expect(processesOf(dataDir)).toEqual([]);

    const second = await open(dataDir);
    expect(await query<{ n: number }>(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await second.close();
  });

  test("starts where a power cut has left only zeros of the file that names its process", async () => {
    const dataDir = await folderWithCluster();
    writeFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), "\0".repeat(64));
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 42 AS n")).toEqual([{ n: 42 }]);
    await server.close();
  });

  test("opens no port, no other account can reach its socket, and text is ordered by its bytes", async () => {
    const dataDir = await folderWithCluster();
    const server = await open(dataDir);
    const [row] = await query<{ addresses: string; folders: string }>(
      server.url,
      "SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS folders",
    );
    expect(row?.addresses).toBe("");
    expect(row?.folders).toBe(".");
    expect(statSync(join(dataDir, "postgres", "cluster")).mode & 0o077).toBe(0);
    const words = await query<{ word: string }>(
      server.url,
      "SELECT word FROM (VALUES ('a'), ('B'), ('ä'), ('z')) AS words (word) ORDER BY word",
    );
    expect(words.map(({ word }) => word)).toEqual(["B", "a", "z", "ä"]);
    await server.close();
  });

  test("a second process joins the running server, and goes on at the same address when the first one stops it", async () => {
    const dataDir = await folderWithCluster();
    const [mine, other] = await Promise.all([open(dataDir), otherUser(dataDir)]);
    expect(other.url).toBe(mine.url);
    await query(mine.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await mine.close();
    expect(await answerOf(other.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await other.leave();
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("after its owner was killed another process owns it, and what was committed is there", async () => {
    const dataDir = await folderWithCluster();
    const other = await otherUser(dataDir);
    await query(other.url, "CREATE TABLE kept AS SELECT 42 AS n");
    const joined = await open(dataDir);
    const left = serverProcess(dataDir);
    await other.kill();
    await until("another server runs", () => serverProcess(dataDir) !== left);
    expect(await answerOf(joined.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await joined.close();
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("data of another major version is refused in one line with the remedy", async () => {
    const dataDir = await folderWithCluster();
    writeFileSync(join(dataDir, "postgres", "cluster", "PG_VERSION"), "17\n");
    const refusal = await open(dataDir).catch((error: Error) => error.message);
    expect(refusal).toMatch(
      /^the data in .* is of PostgreSQL 17, but this program contains 18: [^\n]+$/,
    );
    // The refusal leaves no lock that keeps the next process out.
    writeFileSync(join(dataDir, "postgres", "cluster", "PG_VERSION"), "18\n");
    await (await open(dataDir)).close();
  });

  test("a server that does not start is reported in one line with the cause, and leaves nothing behind", async () => {
    const dataDir = await folderWithCluster();
    const file = join(dataDir, "postgres", "cluster", "global", "pg_control");
    const control = readFileSync(file);
    writeFileSync(file, "");
    const refusal = await open(dataDir).catch((error: Error) => error.message);
    expect(refusal).toMatch(/^PostgreSQL could not start: [^\n]*pg_control[^\n]*$/);
    expect(processesOf(dataDir)).toEqual([]);
    writeFileSync(file, control);
    await (await open(dataDir)).close();
  });

  test("a data folder that is a file is refused in one line with the remedy", async () => {
    const file = join(dataFolder(), "file");
    writeFileSync(file, "");
    const refusal = await open(file).catch((error: Error) => error.message);
    expect(refusal).toMatch(/^cannot use .*: a file is where a folder should be: [^\n]+$/);
  });
});

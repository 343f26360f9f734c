import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBinaries } from "../../src/db/embedded/binaries.ts";
import { locateCluster } from "../../src/db/embedded/location.ts";
import { serverUrl } from "../../src/db/embedded/server.ts";
import { tryOwn } from "../../src/db/embedded.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { until } from "../../support/until.ts";
import {
  isRunning,
  open,
  otherUser,
  pidFileLines,
  query,
  serverProcess,
} from "./embedded-clusters.ts";

const IS_ROOT = process.getuid?.() === 0;
/** The length of a path that no socket can have. */
const LONG_NAME_CHARS = 120;
/** Gives itself the arguments that it gets, and says so. */
const PRETENDER = '$| = 1; $0 = join("\\0", @ARGV) . "\\0" x 65536; print "ready\\n"; sleep 1000;';

const reasonOf = (dataDir: string) =>
  open(dataDir).then(
    () => "it opens",
    (error) => error.message,
  );

function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const { success, stderr } = Bun.spawnSync(["cp", "-a", join(from, "postgres"), to]);
  expect(success, stderr.toString()).toBe(true);
}

const pidFile = (dataDir: string) => join(locateCluster(dataDir).cluster, "postmaster.pid");

/** Writes the file that a server with this number would have left. */
function claim(dataDir: string, pid: number): void {
  const lines = [pid, locateCluster(dataDir).cluster, 1, 5_432, ".", "", "", "ready   "];
  writeFileSync(pidFile(dataDir), `${lines.join("\n")}\n`);
}

/** A program in the folder of the cluster, run by the account that would run its PostgreSQL. */
function start(dataDir: string, command: readonly string[]) {
  const { account, cluster } = locateCluster(dataDir);
  const program = Bun.spawn([...command], {
    cwd: cluster,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    ...(IS_ROOT ? account : {}),
  });
  onCleanup(async () => {
    program.kill("SIGKILL");
    await program.exited;
  });
  return program;
}

/** A program with all arguments of a server on the cluster, in its folder. */
async function pretender(dataDir: string): Promise<number> {
  const { cluster, account } = locateCluster(dataDir);
  const { postgres } = findBinaries(account);
  const given = [postgres, "-D", cluster, "-c", "unix_socket_directories=."];
  const program = start(dataDir, ["perl", "-e", PRETENDER, ...given]);
  await program.stdout.getReader().read();
  return program.pid;
}

/** Processes that have the number of an earlier server of a folder, without being that server. */
const OTHERS: Readonly<Record<string, (dataDir: string) => Promise<number>>> = {
  "another program with the arguments of the server": pretender,
  "the same executable on another folder": async () => {
    const other = await folderWithCluster();
    const server = await open(other);
    onCleanup(() => server.close());
    return serverProcess(other) as number;
  },
};

describe("a start with an embedded PostgreSQL", () => {
  test.each(Object.entries(OTHERS))("leaves %s alone", async (_, run) => {
    const dataDir = await folderWithCluster();
    const pid = await run(dataDir);
    claim(dataDir, pid);
    const server = await open(dataDir);
    expect(await query(server.url, "SELECT 42 AS n")).toEqual([{ n: 42 }]);
    await server.close();
    expect(isRunning(pid)).toBe(true);
  });

  test("needs nothing of a server whose number no process has", async () => {
    const dataDir = await folderWithCluster();
    const ended = start(dataDir, ["true"]);
    await ended.exited;
    claim(dataDir, ended.pid);
    const lines: string[] = [];
    const server = await open(dataDir, (line) => lines.push(line));
    expect(await query(server.url, "SELECT 42 AS n")).toEqual([{ n: 42 }]);
    await server.close();
    expect(lines).toEqual([]);
  });

  test("on a copy of a folder whose path ends with that of the copy keeps the server of the original running", async () => {
    const dataDir = dataFolder();
    const original = join(dataFolder(), dataDir);
    copy(await folderWithCluster(), original);
    const first = await open(original);
    await query(first.url, "CREATE TABLE place AS SELECT 'original' AS name");
    copy(original, dataDir);
    await query(first.url, "UPDATE place SET name = 'changed since'");
    const pid = serverProcess(original);
    const second = await open(dataDir);
    expect(serverProcess(original)).toBe(pid);
    expect(await query(second.url, "SELECT name FROM place")).toEqual([{ name: "original" }]);
    await second.close();
    expect(await query(first.url, "SELECT name FROM place")).toEqual([{ name: "changed since" }]);
    await first.close();
  });

  test("refuses to end a PostgreSQL that somebody else runs on the folder, and names it", async () => {
    const dataDir = await folderWithCluster();
    const { account, cluster } = locateCluster(dataDir);
    const { postgres } = findBinaries(account);
    const options = ["-D", cluster, "-k", cluster, "-c", "listen_addresses="];
    const { pid, exited } = start(dataDir, [postgres, ...options]);
    await until("the server is ready", () => pidFileLines(dataDir)[7]?.trim() === "ready");
    const left = readFileSync(pidFile(dataDir), "utf8");
    expect(await reasonOf(dataDir)).toBe(
      `process ${pid} is a PostgreSQL on ${cluster} that this program has not started: stop it first (kill -INT ${pid}), or set another DATA_DIR`,
    );
    // A server ends itself when the file names another one.
    expect(readFileSync(pidFile(dataDir), "utf8")).toBe(left);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGINT");
    expect(await exited).toBe(0);
    await (await open(dataDir)).close();
  });

  test("ends a server that it has left, unless the number in the file is that of another program", async () => {
    const dataDir = await folderWithCluster();
    // A killed process leaves its PostgreSQL.
    await (await otherUser(dataDir)).kill();
    const pid = serverProcess(dataDir) as number;
    const left = readFileSync(pidFile(dataDir), "utf8");
    writeFileSync(pidFile(dataDir), left.replace(String(pid), String(process.pid)));
    expect(await reasonOf(dataDir)).toStartWith(`process ${process.pid} is a PostgreSQL on `);
    expect(isRunning(pid)).toBe(true);
    writeFileSync(pidFile(dataDir), left);
    const server = await open(dataDir);
    expect(isRunning(pid)).toBe(false);
    await server.close();
  });
});

describe("a copy of the folder of an embedded PostgreSQL", () => {
  test("does not lead to the server of the original, which its files describe", async () => {
    const original = await folderWithCluster();
    const first = await open(original);
    const dataDir = dataFolder();
    copy(original, dataDir);
    const location = locateCluster(dataDir);
    // Another process that is starting has the right to the copy.
    const release = await tryOwn(location);
    expect(await serverUrl(locateCluster(original))).toBe(first.url);
    expect(await serverUrl(location)).toBeUndefined();
    release?.();
    await first.close();
  });

  test("gets a socket of its own where the path is too long for one", async () => {
    const [original, dataDir] = [0, 1].map(() => join(dataFolder(), "n".repeat(LONG_NAME_CHARS)));
    copy(await folderWithCluster(), original as string);
    const first = await open(original as string);
    await query(first.url, "CREATE TABLE only_here ()");
    copy(original as string, dataDir as string);
    await query(first.url, "DROP TABLE only_here");
    const second = await open(dataDir as string);
    expect(await query(second.url, "SELECT FROM only_here")).toEqual([]);
    await second.close();
    await expect(query(first.url, "SELECT FROM only_here")).rejects.toThrow("does not exist");
    await first.close();
  });

  test("has a database of its own where only its owner can enter it, and a moved folder keeps its own", async () => {
    const folder = dataFolder();
    chmodSync(folder, 0o700);
    const [original, other, moved] = ["original", "other", "moved"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    copy(await folderWithCluster(), original);
    const first = await open(original);
    await query(first.url, "CREATE TABLE place AS SELECT 'original' AS name");
    copy(original, other);
    await query(first.url, "UPDATE place SET name = 'changed since'");
    const second = await open(other);
    expect(await query(second.url, "SELECT name FROM place")).toEqual([{ name: "original" }]);
    await Promise.all([first.close(), second.close()]);
    renameSync(original, moved);
    const again = await open(moved);
    expect(await query(again.url, "SELECT name FROM place")).toEqual([{ name: "changed since" }]);
    await again.close();
  });
});

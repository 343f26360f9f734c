import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBinaries } from "../../src/db/embedded/binaries.ts";
import { locateCluster, SHARED_FOLDER } from "../../src/db/embedded/location.ts";
import { tryOwn } from "../../src/db/embedded/ownership.ts";
import { readPidFile } from "../../src/db/embedded/pid-file.ts";
import { readProcess } from "../../src/db/embedded/processes.ts";
import { serverUrl } from "../../src/db/embedded/server.ts";
import { accepts, socketPath } from "../../src/db/embedded/socket.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { until } from "../../support/until.ts";
import { open, otherUser, query } from "./embedded-clusters.ts";

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

/** Writes the file that a server with this number and this start would have left. */
function claim(dataDir: string, pid: number, startedAt?: number): void {
  const { cluster } = locateCluster(dataDir);
  const seconds = Math.floor(startedAt ?? readProcess(pid)?.startedAt ?? 1);
  const lines = [pid, cluster, seconds, 5_432, cluster, "", "", "ready   "];
  writeFileSync(pidFile(dataDir), `${lines.join("\n")}\n`);
}

/** A program in the folder of the cluster, run by the account that would run its PostgreSQL. */
function start(dataDir: string, command: readonly string[]) {
  const { account, cluster } = locateCluster(dataDir);
  const program = Bun.spawn([...command], {
    ...{ cwd: cluster, stdin: "ignore", stdout: "pipe", stderr: "ignore" },
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
  const { postgres } = findBinaries(account, SHARED_FOLDER);
  const given = [postgres, "-D", cluster, "-c", `unix_socket_directories=${cluster}`];
  const program = start(dataDir, ["perl", "-e", PRETENDER, ...given]);
  await program.stdout.getReader().read();
  expect(readProcess(program.pid)?.commandLine).toStartWith(`${given.join("\0")}\0`);
  return program.pid;
}

/** Processes that have the number of an earlier server of a folder, without being that server. All others are in left-server.test.ts. */
const OTHERS: Readonly<Record<string, (dataDir: string) => Promise<number>>> = {
  "another program with the arguments of the server": pretender,
  "the same executable on another folder": async () => {
    const other = await folderWithCluster();
    const server = await open(other);
    onCleanup(() => server.close());
    return readPidFile(locateCluster(other)).pid as number;
  },
};

describe("a start with an embedded PostgreSQL", () => {
  test.each(Object.entries(OTHERS))("leaves %s alone, and names it", async (_, run) => {
    const dataDir = await folderWithCluster();
    const pid = await run(dataDir);
    claim(dataDir, pid);
    const before = readProcess(pid);
    const lines: string[] = [];
    const server = await open(dataDir, (line) => lines.push(line));
    expect(await query(server.url, "SELECT 42 AS n")).toEqual([{ n: 42 }]);
    await server.close();
    expect(readProcess(pid)).toEqual(before);
    expect(lines).toEqual([
      `process ${pid} (${before?.executable}) has the number of an earlier PostgreSQL, and is left alone`,
    ]);
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
    const { pid } = readPidFile(locateCluster(original));
    const second = await open(dataDir);
    expect(readPidFile(locateCluster(original)).pid).toBe(pid);
    expect(await query(second.url, "SELECT name FROM place")).toEqual([{ name: "original" }]);
    await second.close();
    expect(await query(first.url, "SELECT name FROM place")).toEqual([{ name: "changed since" }]);
    await first.close();
  });

  test("refuses to end a PostgreSQL that somebody else runs on the folder, and names it", async () => {
    const dataDir = await folderWithCluster();
    const { account, cluster } = locateCluster(dataDir);
    const { postgres } = findBinaries(account, SHARED_FOLDER);
    const options = ["-D", cluster, "-k", cluster, "-c", "listen_addresses="];
    const { pid, exited } = start(dataDir, [postgres, ...options]);
    const status = () => readPidFile(locateCluster(dataDir)).status;
    await until("the server is ready", () => status() === "ready");
    const left = readFileSync(pidFile(dataDir), "utf8");
    expect(await reasonOf(dataDir)).toBe(
      `process ${pid} is a PostgreSQL on ${cluster} that this program has not started: stop it first (kill -INT ${pid}), or set another DATA_DIR`,
    );
    // A server ends itself when the file names another one.
    expect(readFileSync(pidFile(dataDir), "utf8")).toBe(left);
    expect(await accepts(socketPath(cluster))).toBe(true);
    process.kill(pid, "SIGINT");
    expect(await exited).toBe(0);
    await (await open(dataDir)).close();
  });

  test("ends a server that it has left, but not one that was started at another time than the file says", async () => {
    const dataDir = await folderWithCluster();
    // A killed process leaves its PostgreSQL.
    await (await otherUser(dataDir)).kill();
    const { pid = 0, startedAt = 0 } = readPidFile(locateCluster(dataDir));
    const left = readFileSync(pidFile(dataDir), "utf8");
    for (const seconds of [-3_600, 3_600]) {
      const changed = left.replace(String(startedAt), String(startedAt + seconds));
      writeFileSync(pidFile(dataDir), changed);
      expect(await reasonOf(dataDir)).toStartWith(`process ${pid} is a PostgreSQL on `);
      expect(readProcess(pid)).toBeDefined();
    }
    writeFileSync(pidFile(dataDir), left);
    const server = await open(dataDir);
    expect(readProcess(pid)).toBeUndefined();
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
    const socketFolder = (folder: string) => {
      const path = readFileSync(join(folder, "postgres", "socket-folder"), "utf8").trim();
      onCleanup(() => rmSync(path, { recursive: true, force: true }));
      return path;
    };
    const first = await open(original as string);
    await query(first.url, "CREATE TABLE only_here ()");
    copy(original as string, dataDir as string);
    await query(first.url, "DROP TABLE only_here");
    const second = await open(dataDir as string);
    expect(socketFolder(dataDir as string)).not.toBe(socketFolder(original as string));
    expect(await query(second.url, "SELECT FROM only_here")).toEqual([]);
    await second.close();
    await expect(query(first.url, "SELECT FROM only_here")).rejects.toThrow("does not exist");
    await first.close();
  });

  test("is refused where the cluster is outside the data folder, and a moved data folder is not", async () => {
    const folder = dataFolder();
    const [original, other, home] = ["original", "other", "home"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    copy(await folderWithCluster(), folder);
    renameSync(join(folder, "postgres"), home);
    mkdirSync(original);
    writeFileSync(join(original, "postgres-location"), home);
    const first = await open(original);
    await first.close();
    expect(Bun.spawnSync(["cp", "-a", original, other]).success).toBe(true);
    const pointer = join(other, "postgres-location");
    expect(await reasonOf(other)).toBe(
      `${other} is a copy of ${original}, whose PostgreSQL data is in ${home}: copy that folder, too, and name its copy in ${pointer}, or set another DATA_DIR`,
    );
    expect(Bun.spawnSync(["cp", "-a", home, `${home}-copy`]).success).toBe(true);
    writeFileSync(pointer, `${home}-copy`);
    const servers = [await open(original), await open(other)];
    expect(new Set(servers.map(({ url }) => url)).size).toBe(2);
    for (const server of servers) await server.close();
    rmSync(other, { recursive: true });
    renameSync(original, other);
    const moved = await open(other);
    expect([moved.fresh, moved.url]).toEqual([false, first.url]);
    await moved.close();
  });
});

test("/proc and ps describe a process alike", () => {
  const { pid } = process;
  const [one, other] = [readProcess(pid, "linux"), readProcess(pid, "darwin")];
  expect(other?.commandLine).toBe(one?.commandLine.replaceAll("\0", " ") as string);
  expect(other?.uid).toBe(one?.uid as number);
  expect(Math.abs((other?.startedAt ?? 0) - (one?.startedAt ?? 0))).toBeLessThanOrEqual(1);
});

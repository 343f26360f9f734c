import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { processIdentity } from "../../src/db/embedded/processes.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { isUnavailable } from "../../src/db/errors.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

setDefaultTimeout(30_000);

const PROGRAM = "support/processes/embedded-user.ts";
/** Long enough for a watching process to see that its server has died, and to try to start it. */
const WATCHED_MS = 1_500;

function open(dataDir: string): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir, log: () => {} });
}

/** Another process that uses the same PostgreSQL, once it has reported so. */
async function otherUser(
  dataDir: string,
): Promise<{ url: string; leave(): Promise<void>; kill(): Promise<void> }> {
  const program = Bun.spawn([process.execPath, PROGRAM, dataDir], {
    cwd: PROJECT_ROOT,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(() => program.kill("SIGKILL"));
  const { value } = await program.stdout.getReader().read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async leave() {
      program.stdin.end();
      await program.exited;
    },
    async kill() {
      program.kill("SIGKILL");
      await program.exited;
    },
  };
}

async function query<Row>(url: string, text: string): Promise<Row[]> {
  const sql = openDatabase(url, { connections: 1 });
  try {
    return [...(await sql.unsafe(text))] as Row[];
  } finally {
    await sql.end();
  }
}

/** The same, repeated while the server does not answer. */
async function answerOf(url: string, text: string): Promise<unknown[]> {
  for (;;) {
    try {
      return await query(url, text);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await Bun.sleep(50);
    }
  }
}

function serverProcess(dataDir: string): number | undefined {
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined;
}

async function killServer(dataDir: string): Promise<void> {
  const pid = serverProcess(dataDir) as number;
  process.kill(pid, "SIGKILL");
  while (processIdentity(pid) !== undefined) await Bun.sleep(5);
}

// Most tests begin with a copy of this cluster, because creating one takes long.
const created = dataFolder();
await (await open(created)).close();

function folderWithCluster(): string {
  const folder = dataFolder();
  Bun.spawnSync(["cp", "-a", join(created, "postgres"), join(folder, "postgres")]);
  return folder;
}

describe("the embedded PostgreSQL", () => {
  test("committed data is there after the last user has left and a new one has joined", async () => {
    const dataDir = dataFolder();
    const first = await open(dataDir);
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await first.close();
    expect(serverProcess(dataDir)).toBeUndefined();

    const second = await open(dataDir);
    expect([first.fresh, second.fresh]).toEqual([true, false]);
    expect(await query<{ n: number }>(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await second.close();
  });

  test("a second process joins the running server, and the last of the two stops it", async () => {
    const dataDir = dataFolder();
    const [mine, other] = await Promise.all([open(dataDir), otherUser(dataDir)]);
    expect(other.url).toBe(mine.url);
    await mine.close();
    expect(await query<{ n: number }>(other.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    await other.leave();
    expect(serverProcess(dataDir)).toBeUndefined();
  });

  test("a server whose only user was killed is joined, and stopped when the next user leaves", async () => {
    const dataDir = folderWithCluster();
    const other = await otherUser(dataDir);
    const pid = serverProcess(dataDir);
    await other.kill();
    const mine = await open(dataDir);
    expect(mine.url).toBe(other.url);
    expect(serverProcess(dataDir)).toBe(pid as number);
    await mine.close();
    expect(serverProcess(dataDir)).toBeUndefined();
  });

  test("after PostgreSQL itself was killed the next start keeps what was committed, and the address", async () => {
    const dataDir = folderWithCluster();
    const before = await open(dataDir);
    await query(before.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await killServer(dataDir);
    const after = await open(dataDir);
    expect(after.url).toBe(before.url);
    expect(await query<{ n: number }>(after.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await Promise.all([before.close(), after.close()]);
    expect(serverProcess(dataDir)).toBeUndefined();
  });

  test("a server that dies under its users is started again at the same address", async () => {
    const dataDir = folderWithCluster();
    const server = await open(dataDir);
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await killServer(dataDir);
    expect(await answerOf(server.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await server.close();
    expect(serverProcess(dataDir)).toBeUndefined();
  });

  test("a server that dies is started again at the same address once another program has left its port", async () => {
    const dataDir = folderWithCluster();
    const server = await open(dataDir);
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await killServer(dataDir);
    const other = Bun.listen({
      ...{ hostname: "127.0.0.1", port: Number(new URL(server.url).port) },
      socket: { open: (socket) => void socket.end(), data() {} },
    });
    await Bun.sleep(WATCHED_MS);
    other.stop(true);
    expect(await answerOf(server.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await server.close();
    expect(serverProcess(dataDir)).toBeUndefined();
  });

  test("a process id that was reused by another program is not mistaken for the server", async () => {
    const dataDir = folderWithCluster();
    const cluster = join(dataDir, "postgres", "cluster");
    const stale = [process.pid, cluster, 1, 1, "", "127.0.0.1", "", "ready   "].join("\n");
    writeFileSync(join(cluster, "postmaster.pid"), `${stale}\n`);
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    await server.close();
  });

  test("a cluster whose creation was interrupted is created again", async () => {
    const dataDir = dataFolder();
    const partial = join(dataDir, "postgres", "cluster.partial-0000");
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, "PG_VERSION"), "18\n");
    const server = await open(dataDir);
    expect(server.fresh).toBe(true);
    expect(existsSync(partial)).toBe(false);
    await server.close();
  });

  test("text is ordered by its bytes and stored as UTF-8", async () => {
    const server = await open(folderWithCluster());
    const rows = await query<{ word: string }>(
      server.url,
      "SELECT word FROM (VALUES ('a'), ('B'), ('ä'), ('z')) AS words (word) ORDER BY word",
    );
    expect(rows.map(({ word }) => word)).toEqual(["B", "a", "z", "ä"]);
    await server.close();
  });

  test("data of another major version is refused in one line with the remedy", async () => {
    const dataDir = folderWithCluster();
    writeFileSync(join(dataDir, "postgres", "cluster", "PG_VERSION"), "17\n");
    const refusal = await open(dataDir).catch((error: Error) => error.message);
    expect(refusal).toMatch(
      /^the data in .* is of PostgreSQL 17, but this program contains 18: [^\n]+$/,
    );
  });

  test("a data folder that is a file is refused in one line with the remedy", async () => {
    const file = join(dataFolder(), "file");
    writeFileSync(file, "");
    const refusal = await open(file).catch((error: Error) => error.message);
    expect(refusal).toMatch(/^cannot use .*: a file is where a folder should be: [^\n]+$/);
  });
});

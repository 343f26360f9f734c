import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { identityOf, isSame, readProcess } from "../../src/db/embedded/processes.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { isUnavailable } from "../../src/db/errors.ts";
import { untilReady } from "../../support/api/index-world.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { PROJECT_ROOT, startServer } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const PROGRAM = "support/processes/embedded-user.ts";
/** The length of a path that no socket can have. */
const LONG_NAME_CHARS = 120;

function open(dataDir: string, log = (_line: string) => {}): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir, log });
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
  let rows: unknown[] = [];
  await until("the server answers", async () => {
    try {
      rows = await query(url, text);
      return true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    }
  });
  return rows;
}

function serverProcess(dataDir: string): number | undefined {
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined;
}

/** Every process that works for the server, which has none after it was stopped. */
function processesOf(dataDir: string): number[] {
  const cluster = identityOf(join(dataDir, "postgres", "cluster"));
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isSame(readProcess(pid)?.folder, cluster));
}

async function killServer(dataDir: string): Promise<void> {
  const pid = serverProcess(dataDir) as number;
  process.kill(pid, "SIGKILL");
  await until("the killed server has ended", () => readProcess(pid) === undefined);
}

// Most tests begin with a copy of this cluster, because creating one takes long.
const created = dataFolder();
await (await open(created)).close();

function folderWithCluster(folder = dataFolder()): string {
  Bun.spawnSync(["cp", "-a", join(created, "postgres"), join(folder, "postgres")]);
  return folder;
}

describe("the embedded PostgreSQL", () => {
  test("committed data is there after the last user has left and a new one has joined", async () => {
    const dataDir = dataFolder();
    const first = await open(dataDir);
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await first.close();
    expect(processesOf(dataDir)).toEqual([]);

    const second = await open(dataDir);
    expect([first.fresh, second.fresh]).toEqual([true, false]);
    expect(await query<{ n: number }>(second.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await second.close();
  });

  test.each([
    ["nothing", ""],
    ["only zeros", "\0".repeat(64)],
  ])("starts where a power cut has left %s of the file that names its process", async (_, left) => {
    const dataDir = folderWithCluster();
    writeFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), left);
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 42 AS n")).toEqual([{ n: 42 }]);
    await server.close();
  });

  test("opens no port, and no other account can reach its socket", async () => {
    const dataDir = folderWithCluster();
    const server = await open(dataDir);
    const [row] = await query<{ addresses: string; folders: string }>(
      server.url,
      "SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS folders",
    );
    expect(row?.addresses).toBe("");
    expect(statSync(row?.folders as string).mode & 0o077).toBe(0);
    await server.close();
  });

  test("a second process joins the running server, and goes on at the same address when the first one stops it", async () => {
    const dataDir = dataFolder();
    const [mine, other] = await Promise.all([open(dataDir), otherUser(dataDir)]);
    expect(other.url).toBe(mine.url);
    await query(mine.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await mine.close();
    expect(await answerOf(other.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await other.leave();
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("after its owner was killed another process owns it, and what was committed is there", async () => {
    const dataDir = folderWithCluster();
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

  test("what a killed owner has left is ended by the next one, even if it does not answer", async () => {
    for (const state of ["running", "stopped", "without its owner's lock"] as const) {
      const dataDir = folderWithCluster();
      const other = await otherUser(dataDir);
      await query(other.url, "CREATE TABLE kept AS SELECT 42 AS n");
      await other.kill();
      const left = serverProcess(dataDir) as number;
      if (state === "stopped") process.kill(left, "SIGSTOP");
      if (state === "without its owner's lock") rmSync(join(dataDir, "postgres", "lock"));
      const mine = await open(dataDir);
      expect(readProcess(left), state).toBeUndefined();
      expect(await query(mine.url, "SELECT n FROM kept"), state).toEqual([{ n: 42 }] as unknown[]);
      await mine.close();
      expect(processesOf(dataDir), state).toEqual([]);
    }
  });

  test("after PostgreSQL and its owner were killed the next start keeps what was committed, and the address", async () => {
    const dataDir = folderWithCluster();
    const before = await otherUser(dataDir);
    await query(before.url, "CREATE TABLE kept AS SELECT 42 AS n");
    await before.kill();
    await killServer(dataDir);
    const after = await open(dataDir);
    expect(after.url).toBe(before.url);
    expect(await query<{ n: number }>(after.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await after.close();
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("a server that dies under its users is started again at the same address", async () => {
    const dataDir = folderWithCluster();
    const server = await open(dataDir);
    const joined = await open(dataDir);
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS n");
    for (let deaths = 0; deaths < 3; deaths++) {
      await killServer(dataDir);
      expect(await answerOf(joined.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    }
    await Promise.all([server.close(), joined.close()]);
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("a file that another program has left in the place of the socket keeps nobody out", async () => {
    const dataDir = folderWithCluster();
    const socket = join(dataDir, "postgres", "cluster", ".s.PGSQL.5432");
    // The number of a process that runs, as after a restart of the machine.
    writeFileSync(`${socket}.lock`, `${process.pid}\n`);
    writeFileSync(socket, "");
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    await server.close();
  });

  test("a data folder whose path is too long for a socket has it in a private temporary folder, which later starts use again", async () => {
    const dataDir = join(dataFolder(), "n".repeat(LONG_NAME_CHARS));
    mkdirSync(dataDir, { mode: 0o711 });
    folderWithCluster(dataDir);
    const lines: string[] = [];
    const first = await open(dataDir, (line) => lines.push(line));
    const joined = await otherUser(dataDir);
    expect(joined.url).toBe(first.url);
    expect(lines.join("\n")).toMatch(/the socket of PostgreSQL is in .*, because .* too long/);
    const folder = readFileSync(join(dataDir, "postgres", "socket-folder"), "utf8").trim();
    onCleanup(() => rmSync(folder, { recursive: true, force: true }));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(folder).uid).toBe(statSync(join(dataDir, "postgres", "cluster")).uid);
    await joined.leave();
    await first.close();

    const again = await open(dataDir);
    expect(again.url).toBe(first.url);
    await again.close();
    // The system removes temporary folders, and another account may create one of the same name.
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: 0o777 });
    const moved = await open(dataDir);
    expect(moved.url).not.toBe(first.url);
    expect(await query<{ n: number }>(moved.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    const other = readFileSync(join(dataDir, "postgres", "socket-folder"), "utf8").trim();
    onCleanup(() => rmSync(other, { recursive: true, force: true }));
    await moved.close();
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
    // The refusal leaves no lock that keeps the next process out.
    writeFileSync(join(dataDir, "postgres", "cluster", "PG_VERSION"), "18\n");
    await (await open(dataDir)).close();
  });

  test("a server that does not start is reported in one line with the cause, and leaves nothing behind", async () => {
    const dataDir = folderWithCluster();
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

describe("a service on the embedded PostgreSQL", () => {
  /** Whether the service answers with what the database has. */
  const untilAnswered = async (url: string, key: string) => {
    await untilReady(url);
    await until("the service answers with the project", async () => {
      const answer = await fetch(`${url}/projects/handbook`, { headers: { "x-api-key": key } });
      return answer.status === 200;
    });
  };

  /** Another program at a port; undefined where another one of this machine has just taken it. */
  const occupied = (port: number) => {
    const socket = { open: (socket: Bun.Socket) => void socket.end(), data() {} };
    try {
      return Bun.listen({ hostname: "127.0.0.1", port, socket });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      return undefined;
    }
  };

  test("starts again with its data after it, its PostgreSQL or both were killed, while another program has its address", async () => {
    const dataDir = folderWithCluster();
    const env = { DATA_DIR: dataDir };
    const folder = ["--markdown", "fixtures/docs/concepts", "--project", "handbook"];
    const { stderr } = await callCommand(["import", ...folder], { env });
    const key = /shown only once: (\S+)/.exec(stderr)?.[1] as string;
    for (const killed of ["service", "PostgreSQL", "both"] as const) {
      const service = await startServer({ env });
      await untilAnswered(service.url, key);
      if (killed !== "service") await killServer(dataDir);
      if (killed === "PostgreSQL") {
        await untilAnswered(service.url, key);
        service.kill("SIGTERM");
        expect(await service.exited, killed).toBe(0);
        continue;
      }
      service.kill("SIGKILL");
      await service.exited;
      const other = occupied(Number(new URL(service.url).port));
      const next = await startServer({ env });
      await untilAnswered(next.url, key);
      // Commands find the service by its announced address.
      const listed = await callCommand(["keys", "list"], { env });
      expect(listed, killed).toMatchObject({ status: 0 });
      next.kill("SIGTERM");
      expect(await next.exited, killed).toBe(0);
      other?.stop(true);
    }
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("keeps its database when a terminal interrupts it with all processes of its group", async () => {
    const dataDir = folderWithCluster();
    await startServer({ env: { DATA_DIR: dataDir } });
    const pid = serverProcess(dataDir) as number;
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ");
    const [, , group, session] = fields as string[];
    expect([Number(group), Number(session)]).toEqual([pid, pid]);
  });
});

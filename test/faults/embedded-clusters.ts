/** Embedded PostgreSQL servers in data folders of their own, and processes that use them. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { isUnavailable } from "../../src/db/errors.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const PROGRAM = "test/faults/embedded-user.ts";
export function open(dataDir: string, log = (_line: string) => {}): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir, log });
}

/** Another process that uses the same PostgreSQL, once it has reported so. */
export async function otherUser(
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

export async function query<Row>(url: string, text: string): Promise<Row[]> {
  const sql = openDatabase(url, { connections: 1 });
  try {
    return [...(await sql.unsafe(text))] as Row[];
  } finally {
    await sql.end();
  }
}

/** The same, repeated while the server does not answer. */
export async function answerOf(url: string, text: string): Promise<unknown[]> {
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

/** The lines of the file in which PostgreSQL describes its server. */
export function pidFileLines(dataDir: string): string[] {
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

export function serverProcess(dataDir: string): number | undefined {
  const [pid] = pidFileLines(dataDir);
  return pid === undefined ? undefined : Number.parseInt(pid, 10);
}

/** Whether a process runs. One that has ended and was not awaited has no arguments. */
export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

/** Every process that works for the server, which has none after it was stopped. */
export function processesOf(dataDir: string): number[] {
  const { dev, ino } = statSync(join(dataDir, "postgres", "cluster"));
  const worksThere = (pid: number) => {
    try {
      const folder = statSync(`/proc/${pid}/cwd`);
      return folder.dev === dev && folder.ino === ino;
    } catch {
      // It has ended, or belongs to an account that this one may not look at.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(worksThere);
}

export async function killServer(dataDir: string): Promise<void> {
  const pid = serverProcess(dataDir) as number;
  process.kill(pid, "SIGKILL");
  await until("the killed server has ended", () => !isRunning(pid));
}

/** Embedded PostgreSQL servers in data folders of their own, and processes that use them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { identityOf, isSame, readProcess } from "../../src/db/embedded/processes.ts";
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

export function serverProcess(dataDir: string): number | undefined {
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined;
}

/** Every process that works for the server, which has none after it was stopped. */
export function processesOf(dataDir: string): number[] {
  const cluster = identityOf(join(dataDir, "postgres", "cluster"));
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isSame(readProcess(pid)?.folder, cluster));
}

export async function killServer(dataDir: string): Promise<void> {
  const pid = serverProcess(dataDir) as number;
  process.kill(pid, "SIGKILL");
  await until("the killed server has ended", () => readProcess(pid) === undefined);
}

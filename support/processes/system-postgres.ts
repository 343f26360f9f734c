import { chmodSync, existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { onCleanup } from "../cleanup.ts";
import { memoryFolder } from "../folders.ts";
import { freePort } from "./ports.ts";

const DEBIAN = "/usr/lib/postgresql";
const PROGRAMS = ["initdb", "pg_ctl", "pg_dump", "pg_restore", "createdb"];

export type SystemPostgres = {
  /** The folder of pg_dump, pg_restore and the other tools of the same version. */
  readonly bin: string;
  /** Creates a database and returns its URL. */
  createDatabase(name: string): Promise<string>;
};

/**
 * Where an installed PostgreSQL has its server and its tools: Debian's newest, or those on the PATH. The
 * embedded one comes without pg_dump, and the tools of an older version refuse a newer server.
 */
function installedPostgres(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number).filter(Boolean) : [];
  const onPath = Bun.which("initdb");
  const folders = [
    ...versions.sort((a, b) => b - a).map((version) => join(DEBIAN, String(version), "bin")),
    ...(onPath === null ? [] : [dirname(onPath)]),
  ];
  const found = folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))));
  if (found !== undefined) return found;
  throw new Error(
    "a PostgreSQL with pg_dump is missing and the tests of backups need one: install it (Debian: apt-get install postgresql, macOS: brew install postgresql)",
  );
}

/** PostgreSQL refuses to run as root. Debian's package has an account for it. */
const AS_POSTGRES = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

async function run(command: readonly string[]): Promise<void> {
  // A server that a command starts keeps its streams open, so they are not waited for.
  const program = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const status = await program.exited;
  if (status !== 0) throw new Error(`${command.join(" ")} ended with status ${status}`);
}

/** Starts the PostgreSQL that is installed on this machine in a temporary folder. */
export async function startSystemPostgres(): Promise<SystemPostgres> {
  const bin = installedPostgres();
  const folder = memoryFolder("system-postgres");
  chmodSync(folder, 0o777);
  const cluster = join(folder, "cluster");
  const tool = (name: string) => [...AS_POSTGRES, join(bin, name)];
  await run([...tool("initdb"), "-D", cluster, "-U", "tessera", "--auth=trust", "--no-sync"]);
  const port = await freePort();
  const settings = `-p ${port} -h 127.0.0.1 -k ${folder} -c fsync=off -c max_connections=100`;
  onCleanup(() => run([...tool("pg_ctl"), "-D", cluster, "-m", "immediate", "stop"]));
  const log = join(folder, "log");
  await run([...tool("pg_ctl"), "-D", cluster, "-w", "-l", log, "-o", settings, "start"]);
  const address = ["-h", "127.0.0.1", "-p", String(port), "-U", "tessera"];
  return {
    bin,
    async createDatabase(name) {
      await run([join(bin, "createdb"), ...address, name]);
      return `postgres://tessera@127.0.0.1:${port}/${name}`;
    },
  };
}

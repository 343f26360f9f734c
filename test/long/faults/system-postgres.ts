import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { onCleanup } from "../../../support/cleanup.ts";
import { memoryFolder } from "../../../support/folders.ts";
import { onFreePort } from "../../../support/processes/ports.ts";
import { AS_POSTGRES, programPath } from "../../../support/programs.ts";

export type SystemPostgres = {
  /** The folder of pg_dump, pg_restore and the other tools of the same version. */
  readonly bin: string;
  /** Creates a database and returns its URL. */
  createDatabase(name: string): Promise<string>;
};

async function run(command: readonly string[]): Promise<void> {
  // A server that a command starts keeps its streams open, so they are not waited for.
  const program = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const status = await program.exited;
  if (status !== 0) throw new Error(`${command.join(" ")} ended with status ${status}`);
}

/** Starts the PostgreSQL that is installed on this machine in a temporary folder. */
export async function startSystemPostgres(): Promise<SystemPostgres> {
  const bin = dirname(programPath("pg_dump"));
  const folder = memoryFolder("system-postgres");
  chmodSync(folder, 0o777);
  const cluster = join(folder, "cluster");
  const tool = (name: string) => [...AS_POSTGRES, join(bin, name)];
  await run([
    ...tool("initdb"),
    "-D",
    cluster,
    "-U",
    "tessera",
    "--auth=trust",
    "--no-sync",
    "--encoding=UTF8",
    "--no-locale",
  ]);
  const log = join(folder, "log");
  const port = await onFreePort(async (port) => {
    const settings = `-p ${port} -h 127.0.0.1 -k ${folder} -c fsync=off -c max_connections=100`;
    await run([...tool("pg_ctl"), "-D", cluster, "-w", "-l", log, "-o", settings, "start"]);
    return port;
  });
  onCleanup(() => run([...tool("pg_ctl"), "-D", cluster, "-m", "immediate", "stop"]));
  const address = ["-h", "127.0.0.1", "-p", String(port), "-U", "tessera"];
  return {
    bin,
    async createDatabase(name) {
      await run([join(bin, "createdb"), ...address, name]);
      return `postgres://tessera@127.0.0.1:${port}/${name}`;
    },
  };
}

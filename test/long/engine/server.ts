import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../../support/cleanup.ts";
import { type Fault, faultUntil } from "../../../support/faults.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { freezeServer } from "../../../support/processes/frozen-postgres.ts";
import { onFreePort } from "../../../support/processes/ports.ts";
import { AS_POSTGRES } from "../../../support/programs.ts";

/** Texts are UTF-8 whatever the environment says of the language. */
const NEW_CLUSTER = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"];

/** A busy machine starts and stops a server late. Without this, pg_ctl gives up after a minute, and the server goes on. */
const CONTROL_TIMEOUT_SECONDS = "240";

const SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  max_connections: "300",
  shared_buffers: "256MB",
  maintenance_work_mem: "256MB",
  max_prepared_transactions: "300",
};

export interface EngineServer {
  readonly port: number;
  /** The URL of a database on it. */
  url(database: string): string;
  /** Ends it. The end of the fault starts it again. */
  stop(): Promise<Fault>;
  /** Stops all its processes where they are. Connections stay open, and nothing answers. */
  freeze(): Promise<Fault>;
}

async function run(command: readonly string[]): Promise<void> {
  // A server that a command starts keeps its streams open, so they are not waited for.
  const program = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const status = await program.exited;
  if (status !== 0) throw new Error(`${command.join(" ")} ended with status ${status}`);
}

/** Starts a PostgreSQL of its own in a temporary folder. */
export async function startEngineServer(
  bin: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<EngineServer> {
  const folder = temporaryFolder("engine");
  chmodSync(folder, 0o777);
  const cluster = join(folder, "cluster");
  const tool = (name: string) => [...AS_POSTGRES, join(bin, name)];
  await run([...tool("initdb"), "-D", cluster, "-U", "tessera", ...NEW_CLUSTER]);
  const options = Object.entries({ ...SETTINGS, ...settings }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  const log = join(folder, "log");
  const control = (...args: string[]) =>
    run([...tool("pg_ctl"), "-D", cluster, "-w", "-t", CONTROL_TIMEOUT_SECONDS, ...args]);
  const start = async (port: number) => {
    const all = [`-p ${port}`, "-h 127.0.0.1", `-k ${folder}`, ...options].join(" ");
    await control("-l", log, "-o", all, "start");
    return port;
  };
  const stop = () => control("-m", "immediate", "stop");
  // Registered before the start, because a server whose start fails may be left running.
  onCleanup(async () => {
    if (existsSync(join(cluster, "postmaster.pid"))) await stop();
  });
  const port = await onFreePort(start);
  return {
    port,
    url: (database) => `postgres://tessera@127.0.0.1:${port}/${database}`,
    async stop() {
      await stop();
      return faultUntil(async () => void (await start(port)));
    },
    freeze: () => freezeServer(cluster),
  };
}

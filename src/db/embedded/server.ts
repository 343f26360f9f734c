import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import pRetry from "p-retry";
import { EMBEDDED_START_TIMEOUT_SECONDS } from "../../shared/limits.ts";
import type { Binaries } from "./binaries.ts";
import { chownToAccount, DATABASE_USER } from "./cluster.ts";
import { EmbeddedDatabaseError, explainFileError, logTail, PORT_TAKEN } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";
import { commandLine, readIfPresent } from "./processes.ts";
import { runProgram } from "./programs.ts";

/** Attempts while another process takes the port or a killed server is still ending. */
const EMBEDDED_START_ATTEMPTS = 10;
const EMBEDDED_RETRY_MS = 200;
const EMBEDDED_POLL_MS = 20;
/** A fast shutdown writes one checkpoint. */
const EMBEDDED_STOP_TIMEOUT_SECONDS = 60;
/** A start empties a larger server log. */
const EMBEDDED_LOG_MAX_BYTES = 16_777_216;

/** Settings of the server, by their PostgreSQL names. */
export type ServerSettings = Readonly<Record<string, string>>;

const HOST = "127.0.0.1";

const DEFAULT_SETTINGS: ServerSettings = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "128MB",
  // Statements are short, so compiling them costs more than it saves.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** The port of the cluster's running server, once it accepts connections; undefined without one. */
export async function runningPort(location: ClusterLocation): Promise<number | undefined> {
  const deadline = Date.now() + EMBEDDED_START_TIMEOUT_SECONDS * 1_000;
  for (;;) {
    const { pid, port, status } = readPidFile(location);
    if (pid === undefined) return undefined;
    if (!commandLine(pid).includes(location.cluster)) {
      // Another process has this id now, which PostgreSQL would mistake for a running server.
      rmSync(pidFile(location), { force: true });
      return undefined;
    }
    // A killed server may keep its files and its process id for a moment, but not its port.
    if (status === "ready" && port !== undefined && (await accepts(port))) return port;
    if (Date.now() > deadline) {
      throw new EmbeddedDatabaseError(
        `the PostgreSQL with process id ${pid} stays in state "${status}": end it, then try again (see ${location.log})`,
      );
    }
    await Bun.sleep(EMBEDDED_POLL_MS);
  }
}

/** The id of the server's process, running or not; undefined when none was started. */
export function serverPid(location: ClusterLocation): number | undefined {
  return readPidFile(location).pid;
}

/**
 * Starts PostgreSQL and returns its port: the one that its clients know, if there are any, else the same as
 * last time when that is still free.
 */
export async function startServer(
  location: ClusterLocation,
  binaries: Binaries,
  settings: ServerSettings,
  knownPort?: number,
): Promise<number> {
  prepareLog(location);
  const start = async (attempt: number): Promise<number> => {
    const port = knownPort ?? (attempt === 1 ? await lastOrFreePort(location) : await freePort());
    try {
      await runProgram(location, startCommand(location, binaries, port, settings), "start");
      writeFileSync(location.port, String(port));
      return port;
    } catch (error) {
      // A process that was killed while it started PostgreSQL may have left a server that starts.
      const running = await runningPort(location);
      if (running !== undefined) return running;
      throw error;
    }
  };
  return await pRetry(start, {
    retries: EMBEDDED_START_ATTEMPTS - 1,
    factor: 1,
    minTimeout: EMBEDDED_RETRY_MS,
    shouldRetry: () => isTransient(logTail(location.log)),
  });
}

/**
 * Whether another attempt may succeed: another process took the port between the check and the
 * start, or the last processes of a killed server are still running.
 */
function isTransient(log: string): boolean {
  return PORT_TAKEN.test(log) || /shared memory block .* is still in use/.test(log);
}

/** Stops PostgreSQL if it runs. Open transactions roll back; everything committed is on disk. */
export async function stopServer(location: ClusterLocation, binaries: Binaries): Promise<void> {
  if ((await runningPort(location)) === undefined) return;
  await runProgram(
    location,
    [
      binaries.pgCtl,
      "stop",
      `--pgdata=${location.cluster}`,
      "--mode=fast",
      "--wait",
      `--timeout=${EMBEDDED_STOP_TIMEOUT_SECONDS}`,
      "--silent",
    ],
    "stop",
  );
}

/** The address for clients on this machine. It contains the password: never log it. */
export function serverUrl(location: ClusterLocation, port: number): string {
  const password = readFileSync(location.password, "utf8").trim();
  return `postgres://${DATABASE_USER}:${password}@${HOST}:${port}/postgres`;
}

function startCommand(
  location: ClusterLocation,
  binaries: Binaries,
  port: number,
  settings: ServerSettings,
): string[] {
  const options = Object.entries({ ...DEFAULT_SETTINGS, ...settings, port: String(port) });
  return [
    binaries.pgCtl,
    "start",
    `--pgdata=${location.cluster}`,
    `--log=${location.log}`,
    "--wait",
    `--timeout=${EMBEDDED_START_TIMEOUT_SECONDS}`,
    "--silent",
    // pg_ctl passes this to a shell. Names and values are ours and contain no quotes.
    `--options=${options.map(([name, value]) => `-c ${name}='${value}'`).join(" ")}`,
  ];
}

function prepareLog(location: ClusterLocation): void {
  try {
    if (!existsSync(location.log) || statSync(location.log).size > EMBEDDED_LOG_MAX_BYTES) {
      writeFileSync(location.log, "", { mode: 0o600 });
    }
    chownToAccount(location, location.log);
  } catch (error) {
    throw explainFileError(location.log, error);
  }
}

function pidFile(location: ClusterLocation): string {
  return join(location.cluster, "postmaster.pid");
}

/** PostgreSQL writes the file in pieces; lines that are still missing are undefined. */
function readPidFile(location: ClusterLocation): { pid?: number; port?: number; status?: string } {
  const text = readIfPresent(pidFile(location));
  if (text === undefined) return {};
  const [pid, , , port, , , , status] = text.split("\n");
  return {
    ...(pid ? { pid: Number(pid) } : {}),
    ...(port ? { port: Number(port) } : {}),
    status: status?.trim() ?? "starting",
  };
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = connect({ host: HOST, port });
  probe.once("connect", () => resolve(true));
  probe.once("error", () => resolve(false));
  return promise.finally(() => probe.destroy());
}

/** The last port if it is free, so that clients find the server again after a restart. */
async function lastOrFreePort(location: ClusterLocation): Promise<number> {
  if (existsSync(location.port)) {
    const last = Number(readFileSync(location.port, "utf8"));
    if (Number.isInteger(last) && last > 0 && (await isFree(last))) return last;
  }
  return freePort();
}

function isFree(port: number): Promise<boolean> {
  return bind(port).then(
    () => true,
    () => false,
  );
}

function freePort(): Promise<number> {
  return bind(0);
}

/** Binds the port for a moment; 0 asks the system for a free one. */
function bind(port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once("error", reject);
  probe.listen({ host: HOST, port, exclusive: true }, () => {
    const address = probe.address();
    const bound = typeof address === "object" && address ? address.port : port;
    probe.close(() => resolve(bound));
  });
  return promise;
}

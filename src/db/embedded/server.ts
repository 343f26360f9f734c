import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import pRetry from "p-retry";
import {
  EMBEDDED_LOG_MAX_BYTES,
  EMBEDDED_POLL_MS,
  EMBEDDED_RETRY_MS,
  EMBEDDED_START_ATTEMPTS,
  EMBEDDED_START_TIMEOUT_SECONDS,
  EMBEDDED_STOP_TIMEOUT_SECONDS,
} from "../../shared/limits.ts";
import type { Binaries } from "./binaries.ts";
import { DATABASE_USER, giveToAccount } from "./cluster.ts";
import { EmbeddedDatabaseError, explainFileError, logTail } from "./failure.ts";
import type { Place } from "./place.ts";
import { commandLine } from "./processes.ts";
import { runProgram } from "./programs.ts";

/** Settings of the server, by their PostgreSQL names. */
export type ServerSettings = Readonly<Record<string, string>>;

const HOST = "127.0.0.1";

const DEFAULT_SETTINGS: ServerSettings = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "128MB",
  // Every statement here is short; compiling them costs more than it saves.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** The port of the PostgreSQL that serves this cluster now, or undefined when none does. */
export async function runningPort(place: Place): Promise<number | undefined> {
  const deadline = Date.now() + EMBEDDED_START_TIMEOUT_SECONDS * 1_000;
  for (;;) {
    const { pid, port, status } = readPidFile(place);
    if (pid === undefined) return undefined;
    if (!commandLine(pid).includes(place.cluster)) {
      // The number belongs to somebody else now. PostgreSQL itself would take it for a live server.
      rmSync(pidFile(place), { force: true });
      return undefined;
    }
    // A server that was killed may keep its files and its number for a moment, but not its port.
    if (status === "ready" && port !== undefined && (await accepts(port))) return port;
    if (Date.now() > deadline) {
      throw new EmbeddedDatabaseError(
        `the PostgreSQL with process id ${pid} stays in state "${status}": end it, then try again (see ${place.log})`,
      );
    }
    await Bun.sleep(EMBEDDED_POLL_MS);
  }
}

/** The number of the server's process, living or not; undefined when none was started. */
export function serverProcess(place: Place): number | undefined {
  return readPidFile(place).pid;
}

/** Starts PostgreSQL and returns its port, the same as last time when that is still free. */
export async function startServer(
  place: Place,
  binaries: Binaries,
  settings: ServerSettings,
): Promise<number> {
  prepareLog(place);
  const start = async (attempt: number): Promise<number> => {
    const port = attempt === 1 ? await lastOrFreePort(place) : await freePort();
    try {
      await runProgram(place, startCommand(place, binaries, port, settings), "start");
      writeFileSync(place.port, String(port));
      return port;
    } catch (error) {
      // A process that was killed while it started PostgreSQL may have left a server that starts.
      const running = await runningPort(place);
      if (running !== undefined) return running;
      throw error;
    }
  };
  return await pRetry(start, {
    retries: EMBEDDED_START_ATTEMPTS - 1,
    factor: 1,
    minTimeout: EMBEDDED_RETRY_MS,
    shouldRetry: () => isTransient(logTail(place.log)),
  });
}

/**
 * Whether another attempt may succeed: another process took the port between the check and the
 * start, or the last processes of a killed server are still running.
 */
function isTransient(log: string): boolean {
  return /could not (bind|create any TCP)|shared memory block .* is still in use/.test(log);
}

/** Stops PostgreSQL if it runs: open transactions roll back, everything committed is on disk. */
export async function stopServer(place: Place, binaries: Binaries): Promise<void> {
  if ((await runningPort(place)) === undefined) return;
  await runProgram(
    place,
    [
      binaries.pgCtl,
      "stop",
      `--pgdata=${place.cluster}`,
      "--mode=fast",
      "--wait",
      `--timeout=${EMBEDDED_STOP_TIMEOUT_SECONDS}`,
      "--silent",
    ],
    "stop",
  );
}

/** The address for clients of this machine, password included: never log it. */
export function serverUrl(place: Place, port: number): string {
  const password = readFileSync(place.password, "utf8").trim();
  return `postgres://${DATABASE_USER}:${password}@${HOST}:${port}/postgres`;
}

function startCommand(
  place: Place,
  binaries: Binaries,
  port: number,
  settings: ServerSettings,
): string[] {
  const options = Object.entries({ ...DEFAULT_SETTINGS, ...settings, port: String(port) });
  return [
    binaries.pgCtl,
    "start",
    `--pgdata=${place.cluster}`,
    `--log=${place.log}`,
    "--wait",
    `--timeout=${EMBEDDED_START_TIMEOUT_SECONDS}`,
    "--silent",
    // pg_ctl hands this to a shell; names and values are ours and hold no quotes.
    `--options=${options.map(([name, value]) => `-c ${name}='${value}'`).join(" ")}`,
  ];
}

function prepareLog(place: Place): void {
  try {
    if (!existsSync(place.log) || statSync(place.log).size > EMBEDDED_LOG_MAX_BYTES) {
      writeFileSync(place.log, "", { mode: 0o600 });
    }
    giveToAccount(place, place.log);
  } catch (error) {
    throw explainFileError(place.log, error);
  }
}

function pidFile(place: Place): string {
  return join(place.cluster, "postmaster.pid");
}

/** The file is written in pieces: lines that are still missing come out as undefined. */
function readPidFile(place: Place): { pid?: number; port?: number; status?: string } {
  let lines: string[];
  try {
    lines = readFileSync(pidFile(place), "utf8").split("\n");
  } catch {
    return {};
  }
  const [pid, , , port, , , , status] = lines;
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

/** Clients that outlive a restart find the server again when it keeps its port. */
async function lastOrFreePort(place: Place): Promise<number> {
  if (existsSync(place.port)) {
    const last = Number(readFileSync(place.port, "utf8"));
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

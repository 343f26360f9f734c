import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import pRetry from "p-retry";
import type { Binaries } from "./binaries.ts";
import { chownToAccount, DATABASE_USER } from "./cluster.ts";
import {
  EmbeddedDatabaseError,
  explainFailure,
  explainFileError,
  STILL_ENDING,
} from "./failure.ts";
import type { ClusterLocation } from "./location.ts";
import { commandLine, readIfPresent } from "./processes.ts";
import { programOptions } from "./programs.ts";
import { accepts, chooseSocketFolder, socketPath } from "./socket.ts";

/** Replaying the write-ahead log after a crash may take this long. */
const START_TIMEOUT_MS = 300_000;
/** Attempts while the last processes of a killed server are still ending. */
const START_ATTEMPTS = 50;
const START_RETRY_MS = 200;
const POLL_MS = 20;
/** A start empties a larger server log. */
const LOG_MAX_BYTES = 16_777_216;

/**
 * How a server is ended, and how long each step may take. A fast shutdown writes one checkpoint. An immediate
 * one writes nothing, and kills after 5 s those of its processes that have not ended. The next start then
 * replays the log, so each step keeps what was committed.
 */
const END_STEPS = [
  { signal: "SIGINT", patienceMs: 5_000 },
  { signal: "SIGQUIT", patienceMs: 6_000 },
  { signal: "SIGKILL", patienceMs: 2_000 },
] as const;

/** Settings of the server, by their PostgreSQL names. */
export type ServerSettings = Readonly<Record<string, string>>;

/** There is no port, because another program that takes it after a crash would keep PostgreSQL out. */
const DEFAULT_SETTINGS: ServerSettings = {
  listen_addresses: "",
  max_connections: "100",
  shared_buffers: "128MB",
  // Statements are short, so compiling them costs more than it saves.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** What is needed to start a server. */
export type ServerPlan = {
  readonly location: ClusterLocation;
  readonly binaries: Binaries;
  readonly settings: ServerSettings;
  readonly log: (line: string) => void;
};

/** A server that this process has started. */
export type Server = {
  /** The address for clients on this machine. It contains the password: never log it. */
  readonly url: string;
  readonly exited: Promise<unknown>;
  /** Open transactions roll back; everything committed is on disk. */
  stop(): Promise<void>;
};

/**
 * Starts PostgreSQL as a child of this process and waits until it accepts connections, or `signal` ends it.
 * Only the owner of the server may call this: what a killed owner has left running is ended first.
 */
export async function startServer(plan: ServerPlan, signal: AbortSignal): Promise<Server> {
  const { location } = plan;
  await endLeftServer(location);
  return await pRetry(() => attempt(plan, signal), {
    retries: START_ATTEMPTS - 1,
    factor: 1,
    minTimeout: START_RETRY_MS,
    shouldRetry: ({ error }) => STILL_ENDING.test(String(error.cause)),
  });
}

async function attempt(plan: ServerPlan, signal: AbortSignal): Promise<Server> {
  const { location } = plan;
  const logStart = prepareLog(location);
  const child = spawnServer(plan);
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const isOwn = readPidFile(location).pid === child.pid;
    const url = isOwn ? await serverUrl(location) : undefined;
    const { exited } = child;
    if (url !== undefined) return { url, exited, stop: () => endServer(location, child.pid) };
    if (child.exitCode !== null || child.signalCode !== null) {
      const output = readFileSync(location.log).subarray(logStart).toString();
      throw explainFailure("start", output, location.log);
    }
    if (signal.aborted || Date.now() > deadline) {
      await endServer(location, child.pid);
      throw new EmbeddedDatabaseError(`PostgreSQL was not ready in time (see ${location.log})`);
    }
    await Bun.sleep(POLL_MS);
  }
}

function spawnServer(plan: ServerPlan) {
  const { location, binaries, settings, log } = plan;
  const folder = chooseSocketFolder(location, log);
  // PostgreSQL would take the process that has the number of a killed server for that server.
  rmSync(`${socketPath(folder)}.lock`, { force: true });
  const options = Object.entries({
    ...{ ...DEFAULT_SETTINGS, unix_socket_directories: folder, ...settings },
  });
  const output = openSync(location.log, "a");
  try {
    const child = Bun.spawn(
      [
        ...[binaries.postgres, "-D", location.cluster],
        ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ],
      // A session of its own, because a terminal signals all processes of its group, and the service
      // needs the database until it has ended.
      { ...programOptions(location), stdout: output, stderr: output, detached: true },
    );
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** Ends the server of a killed owner. Without one it does nothing. */
export async function endLeftServer(location: ClusterLocation): Promise<void> {
  const { pid } = readPidFile(location);
  if (pid !== undefined) await endServer(location, pid);
  // Another process, or a zombie, may have the number that a killed server leaves, and would be taken for it.
  // PostgreSQL knows that its parent is no server, and still looks for other processes that use the cluster.
  const left = readIfPresent(pidFile(location));
  if (left === undefined) return;
  // PostgreSQL refuses a file without a number, which a power cut can leave.
  if (!/^\d/.test(left)) rmSync(pidFile(location));
  else writeFileSync(pidFile(location), left.replace(/^\d+/, String(process.pid)));
}

async function endServer(location: ClusterLocation, pid: number): Promise<void> {
  for (const { signal, patienceMs } of END_STEPS) {
    if (!isServer(location, pid)) return;
    process.kill(pid, signal);
    const deadline = Date.now() + patienceMs;
    while (isServer(location, pid) && Date.now() < deadline) await Bun.sleep(POLL_MS);
  }
  if (!isServer(location, pid)) return;
  throw new EmbeddedDatabaseError(
    `the PostgreSQL with process id ${pid} does not end: restart the machine, or set another DATA_DIR (see ${location.log})`,
  );
}

function isServer(location: ClusterLocation, pid: number): boolean {
  return commandLine(pid).includes(location.cluster);
}

/** The address of a server, of whichever process, that accepts connections; undefined without one. */
export async function serverUrl(location: ClusterLocation): Promise<string | undefined> {
  const { status, folder, port } = readPidFile(location);
  if (status !== "ready" || !folder || !(await accepts(socketPath(folder, port)))) return undefined;
  const password = readFileSync(location.password, "utf8").trim();
  return `postgres://${DATABASE_USER}:${password}@${encodeURIComponent(folder)}:${port}/postgres`;
}

/** Returns the size of the log in bytes. */
function prepareLog(location: ClusterLocation): number {
  try {
    if (!existsSync(location.log) || statSync(location.log).size > LOG_MAX_BYTES) {
      writeFileSync(location.log, "", { mode: 0o600 });
    }
    chownToAccount(location, location.log);
    return statSync(location.log).size;
  } catch (error) {
    throw explainFileError(location.log, error);
  }
}

function pidFile(location: ClusterLocation): string {
  return join(location.cluster, "postmaster.pid");
}

/** PostgreSQL writes the file in pieces; lines that are still missing are undefined. */
function readPidFile(location: ClusterLocation): {
  pid?: number;
  port?: number;
  folder?: string | undefined;
  status?: string | undefined;
} {
  const text = readIfPresent(pidFile(location));
  if (text === undefined) return {};
  const [pid, , , port, folder, , , status] = text.split("\n");
  return {
    ...(pid ? { pid: Number(pid) } : {}),
    ...(port ? { port: Number(port) } : {}),
    ...{ folder, status: status?.trim() },
  };
}

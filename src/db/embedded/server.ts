import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import pRetry from "p-retry";
import type { Binaries } from "./binaries.ts";
import { chownToAccount, DATABASE_USER } from "./cluster.ts";
import { type Endable, endServer } from "./ending.ts";
import {
  EmbeddedDatabaseError,
  explainFailure,
  explainFileError,
  STILL_ENDING,
} from "./failure.ts";
import { endLeftServer } from "./left-server.ts";
import type { ClusterLocation } from "./location.ts";
import { readPidFile } from "./pid-file.ts";
import { isSameFolder } from "./processes.ts";
import { programOptions } from "./programs.ts";
import { accepts, chooseSocketFolder, socketPath } from "./socket.ts";

/** Replaying the write-ahead log after a crash may take this long. */
export const START_TIMEOUT_MS = 300_000;
/** Attempts while the last processes of a killed server are still ending. */
const START_ATTEMPTS = 50;
const START_RETRY_MS = 200;
const POLL_MS = 20;
/** A start empties a larger server log. */
const LOG_MAX_BYTES = 16_777_216;

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
  await endLeftServer(location, plan.log);
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
  const stop = () => endServer(asEndable(child), location);
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const isOwn = readPidFile(location).pid === child.pid;
    const url = isOwn ? await serverUrl(location) : undefined;
    if (url !== undefined) return { url, exited: child.exited, stop };
    if (hasEnded(child)) {
      const output = readFileSync(location.log).subarray(logStart).toString();
      throw explainFailure("start", output, location.log);
    }
    if (signal.aborted || Date.now() > deadline) {
      await stop();
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

function hasEnded({ exitCode, signalCode }: Bun.Subprocess): boolean {
  return exitCode !== null || signalCode !== null;
}

function asEndable(child: Bun.Subprocess): Endable {
  return {
    pid: child.pid,
    isRunning: () => !hasEnded(child),
    kill: (signal) => child.kill(signal),
  };
}

/**
 * The address of a server of this cluster that accepts connections, whichever process has started it; undefined
 * without one. A copy of a cluster has a file that describes the server of the original.
 */
export async function serverUrl(location: ClusterLocation): Promise<string | undefined> {
  const { cluster = "", status, folder, port } = readPidFile(location);
  if (status !== "ready" || !folder || !isSameFolder(cluster, location.cluster)) return undefined;
  if (!(await accepts(socketPath(folder, port)))) return undefined;
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

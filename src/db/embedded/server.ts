import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import pRetry from "p-retry";
import { DATABASE_USER, openLog, runProgram, type ServerPlan } from "./cluster.ts";
import { EmbeddedDatabaseError, explainFailure, STILL_ENDING } from "./failure.ts";
import { type ClusterLocation, readIfPresent } from "./location.ts";

/** Replaying the write-ahead log after a crash may take this long. */
export const START_TIMEOUT_MS = 300_000;
/** Attempts while the last processes of a killed server are still ending. */
const START_ATTEMPTS = 50;
const START_RETRY_MS = 200;
const POLL_MS = 20;

/**
 * The steps of ending a server, with their time limits. A fast shutdown writes one checkpoint. An immediate one writes
 * no data, and kills after 5 s those of its processes that have not ended. The next start then replays the log, so each
 * step keeps all committed data.
 */
const END_STEPS = [
  { signal: "SIGINT", patienceMs: 5_000 },
  { signal: "SIGQUIT", patienceMs: 6_000 },
  { signal: "SIGKILL", patienceMs: 2_000 },
] as const;

/** The folder of the socket, from the cluster, in which PostgreSQL works. Only servers like this one have it. */
const SOCKET_FOLDER = ".";

/**
 * The server does not listen on a port, because another program that takes the port after a crash would keep PostgreSQL
 * out.
 */
const DEFAULT_SETTINGS = {
  listen_addresses: "",
  unix_socket_directories: SOCKET_FOLDER,
  // Statements are short, so compiling them costs more than it saves.
  jit: "off",
  log_min_messages: "warning",
  log_checkpoints: "off",
};

/** A server that this process has started. */
export type Server = Awaited<ReturnType<typeof attempt>>;

/**
 * Starts PostgreSQL as a child of this process and waits until it accepts connections, or `signal` ends it. Only the
 * owner of the server may call this: it first ends the server that a killed owner has left running.
 */
export async function startServer(plan: ServerPlan, signal: AbortSignal): Promise<Server> {
  await endLeftServer(plan.location);
  return await pRetry(() => attempt(plan, signal), {
    retries: START_ATTEMPTS - 1,
    factor: 1,
    minTimeout: START_RETRY_MS,
    shouldRetry: ({ error }) => STILL_ENDING.test(String(error.cause)),
  });
}

async function attempt(plan: ServerPlan, signal: AbortSignal) {
  const { location } = plan;
  const log = openLog(location);
  try {
    const child = spawnServer(plan, log.file);
    const isRunning = () => child.exitCode === null && child.signalCode === null;
    const stop = () => end(child.pid, isRunning);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (isRunning()) {
      const isOwn = readPidFile(location).pid === child.pid;
      const url = isOwn ? await serverUrl(location) : undefined;
      if (url !== undefined) return { url, exited: child.exited, stop };
      if (signal.aborted || Date.now() > deadline) {
        await stop();
        throw new EmbeddedDatabaseError(`PostgreSQL was not ready in time (see ${location.log})`);
      }
      await Bun.sleep(POLL_MS);
    }
    throw explainFailure("start", log.written(), location.log);
  } finally {
    log.close();
  }
}

function spawnServer({ location, binaries, settings }: ServerPlan, log: number) {
  const given: ServerPlan["settings"] = { ...DEFAULT_SETTINGS, ...settings };
  // PostgreSQL would take the process that has the number of a killed server now for that server.
  rmSync(join(location.cluster, `${socketName(given["port"])}.lock`), { force: true });
  const options = Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const folder = join(location.programsHome, basename(location.cluster));
  const child = runProgram(location, [binaries.postgres, "-D", folder, ...options], log);
  child.unref();
  return child;
}

/** The address of a server of this cluster that accepts connections, whichever process has started it. */
export async function serverUrl(location: ClusterLocation): Promise<string | undefined> {
  const { folder, port, status } = readPidFile(location);
  if (status !== "ready" || folder !== SOCKET_FOLDER) return undefined;
  if (!(await accepts(location.socketFolder, port))) return undefined;
  const password = readFileSync(location.password, "utf8").trim();
  const host = encodeURIComponent(location.socketFolder);
  return `postgres://${DATABASE_USER}:${password}@${host}:${port}/postgres`;
}

/**
 * Ends the server of a killed owner. Only the owner of the server may call this. Throws when another user runs a server
 * on the cluster.
 *
 * The number in the file proves nothing: the system gives numbers again, and a copy of the cluster has the file, too. A
 * server that accepts connections in the folder of the cluster is that of the file, because PostgreSQL ends itself when
 * the file names another one.
 */
export async function endLeftServer(location: ClusterLocation): Promise<void> {
  const { pid, cluster, port, folder } = readPidFile(location);
  const isOurs = folder === SOCKET_FOLDER;
  const at = isOurs ? location.socketFolder : folder;
  if (at && (isOurs || cluster === location.cluster) && (await accepts(at, port))) {
    if (!isOurs || !isServer(pid)) {
      throw new EmbeddedDatabaseError(
        `process ${pid} is a PostgreSQL on ${location.cluster} that this program has not started: stop it first (kill -INT ${pid}), or set another DATA_DIR`,
      );
    }
    await end(pid, () => readPidFile(location).pid === pid && isServer(pid));
  }
  // PostgreSQL would take any process that has this number now for the server. Without the file it still looks for
  // processes that use the cluster.
  rmSync(pidFile(location), { force: true });
}

async function end(pid: number, isRunning: () => boolean): Promise<void> {
  for (const { signal, patienceMs } of END_STEPS) {
    const deadline = Date.now() + patienceMs;
    if (isRunning()) process.kill(pid, signal);
    while (isRunning() && Date.now() < deadline) await Bun.sleep(POLL_MS);
  }
}

/** Whether this number is that of a PostgreSQL process. On systems without process names: that of any process. */
function isServer(pid: number): boolean {
  try {
    if (process.platform !== "linux") return process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/comm`, "utf8") === "postgres\n";
  } catch {
    return false;
  }
}

/** The file in which PostgreSQL describes the server of a cluster. A copy of the cluster has one, too. */
function pidFile({ cluster }: ClusterLocation): string {
  return join(cluster, "postmaster.pid");
}

/** Lines that PostgreSQL has not written yet are undefined. */
function readPidFile(location: ClusterLocation) {
  const text = readIfPresent(pidFile(location)) ?? "";
  const [pid = "", cluster, , port, folder, , , status] = text.split("\n");
  return { pid: Number.parseInt(pid, 10), cluster, port, folder, status: status?.trim() };
}

/** PostgreSQL names its socket after the number of a port, which it does not open. */
const socketName = (port = "5432") => `.s.PGSQL.${port}`;

/** Whether a server listens on the socket of a folder. */
async function accepts(folder: string, port?: string): Promise<boolean> {
  const unix = join(folder, socketName(port));
  const socket = await Bun.connect({ unix, socket: { data() {} } }).catch(() => undefined);
  socket?.end();
  return socket !== undefined;
}

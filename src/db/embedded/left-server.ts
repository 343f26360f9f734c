import { rmSync, writeFileSync } from "node:fs";
import { endServer } from "./ending.ts";
import { EmbeddedDatabaseError } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";
import { type PidFile, pidFilePath, readPidFile } from "./pid-file.ts";
import {
  identityOf,
  isSame,
  type RunningProcess,
  readIfPresent,
  readProcess,
} from "./processes.ts";

const POSTGRES = "postgres";
/** PostgreSQL notes its start in whole seconds, and the system knows its own in whole seconds. */
const START_TOLERANCE_SECONDS = 2;
/** Time limit for loading PostgreSQL, which comes before it notes its start. */
const LOADING_MAX_SECONDS = 60;

/**
 * Ends the server of a killed owner. Without one it does nothing. Only the owner of the server may call this.
 * Throws when another server works on the cluster.
 */
export async function endLeftServer(
  location: ClusterLocation,
  log: (line: string) => void,
): Promise<void> {
  const file = readPidFile(location);
  const { pid } = file;
  const found = pid === undefined ? undefined : readProcess(pid);
  if (pid !== undefined && found !== undefined) {
    if (isLeft(found, file, location)) await endLeft(pid, file, location);
    else if (worksOn(found, location)) throw refusal(pid, location);
    else {
      const name = `process ${pid} (${found.executable})`;
      log(`${name} has the number of an earlier PostgreSQL, and is left alone`);
    }
  }
  disown(location);
}

async function endLeft(pid: number, file: PidFile, location: ClusterLocation): Promise<void> {
  const isRunning = () => {
    const found = readProcess(pid);
    return found !== undefined && isLeft(found, file, location);
  };
  await endServer({ pid, isRunning, kill: (signal) => signalTo(pid, signal) }, location);
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended since it was looked at.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Whether a process is the server that an earlier owner has started on this cluster. Its number proves nothing: the
 * system gives numbers again, and the file that names it may have come with a copy of the cluster.
 */
export function isLeft(found: RunningProcess, file: PidFile, location: ClusterLocation): boolean {
  const loading = (file.startedAt ?? Number.NaN) - found.startedAt;
  return (
    worksOn(found, location) &&
    hasOwnArguments(found, location) &&
    loading > -START_TOLERANCE_SECONDS &&
    loading < LOADING_MAX_SECONDS
  );
}

/** Whether a process is a PostgreSQL on this cluster, started by this program or not. */
function worksOn(found: RunningProcess, { account, cluster }: ClusterLocation): boolean {
  if (found.uid !== account.uid || found.executable !== POSTGRES) return false;
  if (found.folder !== undefined) return isSame(found.folder, identityOf(cluster));
  return hasArguments(found, cluster);
}

/** An owner also states the folder of the socket. */
function hasOwnArguments(found: RunningProcess, { cluster }: ClusterLocation): boolean {
  const socket = `${found.separator}unix_socket_directories=`;
  return hasArguments(found, cluster) && found.commandLine.includes(socket);
}

/** Whether the arguments begin with those of a server on this cluster. */
function hasArguments({ commandLine, separator }: RunningProcess, cluster: string): boolean {
  const first = commandLine.indexOf(separator);
  return commandLine.startsWith(["", "-D", cluster, ""].join(separator), first);
}

function refusal(pid: number, { cluster }: ClusterLocation): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `process ${pid} is a PostgreSQL on ${cluster} that this program has not started: stop it first (kill -INT ${pid}), or set another DATA_DIR`,
  );
}

/**
 * PostgreSQL would take the process that has the number of a killed server, which may be any other, for that server.
 * It knows that its parent is not a server, and still looks for other processes that use the cluster.
 */
function disown(location: ClusterLocation): void {
  const path = pidFilePath(location);
  const left = readIfPresent(path);
  if (left === undefined) return;
  // PostgreSQL refuses a file without a number, which a power cut can leave.
  if (!/^\d/.test(left)) rmSync(path);
  else writeFileSync(path, left.replace(/^\d+/, String(process.pid)));
}

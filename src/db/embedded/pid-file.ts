import { join } from "node:path";
import type { ClusterLocation } from "./location.ts";
import { readIfPresent } from "./processes.ts";

/** Lines that PostgreSQL has not written yet are undefined. */
export type PidFile = {
  readonly pid?: number | undefined;
  /** The cluster for which it was written. */
  readonly cluster?: string | undefined;
  /** When the server was started, in seconds since 1970. */
  readonly startedAt?: number | undefined;
  readonly port?: number | undefined;
  /** The folder of the socket. */
  readonly folder?: string | undefined;
  readonly status?: string | undefined;
};

/** The file in which PostgreSQL describes the server of a cluster. A copy of the cluster has one, too. */
export function pidFilePath({ cluster }: ClusterLocation): string {
  return join(cluster, "postmaster.pid");
}

export function readPidFile(location: ClusterLocation): PidFile {
  const text = readIfPresent(pidFilePath(location)) ?? "";
  const [pid, cluster, startedAt, port, folder, , , status] = text.split("\n");
  return {
    ...{ pid: numberIn(pid), startedAt: numberIn(startedAt), port: numberIn(port) },
    ...{ cluster, folder, status: status?.trim() },
  };
}

function numberIn(line: string | undefined): number | undefined {
  return line !== undefined && /^\d+$/.test(line) ? Number(line) : undefined;
}

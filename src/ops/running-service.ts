import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { boundedFetch } from "./bounded-fetch.ts";
import { writeDurablySync } from "./durable-files.ts";

/** A service whose address was found and that does not answer within this time is not running. */
const SERVICE_ANSWER_MS = 1_000;
const LIVEZ_MAX_BYTES = 65_536;

/** The description that a running service writes into its data directory, for commands on the same machine. */
export interface RunningService {
  /** The address on this machine, without a trailing slash. */
  readonly url: string;
  /** {base_url}, the address for clients. */
  readonly baseUrl: string;
  readonly pid: number;
  /** The address of its database for people, without credentials. */
  readonly database: string;
  /** The id that the database has given itself. */
  readonly databaseId: string;
}

const FILE = "service.json";
/** Readable by all, so that commands of other users find the service. */
const FILE_MODE = 0o644;

/** The service of this data directory; it may have been killed. */
export function findService(dataDir: string): RunningService | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes the description of a service. Throws if the disk is full. Only the owner of the directory may call this. */
export function announceService(dataDir: string, service: RunningService): void {
  // Readers must not find a partial file.
  writeDurablySync(join(dataDir, FILE), `${JSON.stringify(service)}\n`, { mode: FILE_MODE });
}

/** Removes the description of a service. Only the owner of the directory may call this. */
export function forgetService(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** False if the service was killed and its address remains. */
export async function answers({ url }: RunningService): Promise<boolean> {
  const signal = AbortSignal.timeout(SERVICE_ANSWER_MS);
  return await boundedFetch(`${url}/livez`, { signal }, LIVEZ_MAX_BYTES).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The address of a port on this machine: a service that listens everywhere answers there, too. */
export function localUrl(host: string, port: number): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

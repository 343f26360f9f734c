import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { syncNames, writeDurablySync } from "../../ops/durable-files.ts";
import { isRoot } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedDatabaseError, explainFailure } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";

const EMBEDDED_PASSWORD_BYTES = 24;

/** The superuser of an embedded cluster. */
export const DATABASE_USER = "tessera";

/** The parts of a database and its server. */
export type ServerPlan = {
  readonly location: ClusterLocation;
  readonly binaries: Binaries;
  /** Settings of the server, by their PostgreSQL names. */
  readonly settings: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
};

/** A start empties a larger server log. */
const LOG_MAX_BYTES = 16_777_216;

const PARTIAL = "cluster.partial";

/** Creates the cluster unless it exists. */
export async function ensureCluster(plan: ServerPlan): Promise<void> {
  const { location, binaries, log } = plan;
  if (existsSync(location.cluster)) return checkVersion(location, binaries);
  // A cluster gets its final name when it is complete and on the disk, so neither a crash nor a power cut leaves
  // anything to repair. Nothing is acknowledged before that name is on the disk, too.
  const partial = join(location.home, PARTIAL);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  chownToAccount(location, partial);
  await runInitdb(plan);
  renameSync(partial, location.cluster);
  syncNames(location.cluster);
  log(`created a PostgreSQL ${binaries.major} cluster in ${location.cluster}`);
}

/** Gives a file to the account that runs PostgreSQL. Does nothing unless this process is root. */
export function chownToAccount(location: ClusterLocation, file: string): void {
  if (isRoot()) chownSync(file, location.account.uid, location.account.gid);
}

/**
 * Runs one of PostgreSQL's programs as the account of the cluster, in an environment that is fixed, so that PG*
 * variables and locales of the caller do not affect clusters. It writes to the log.
 */
export function runProgram({ account, home }: ClusterLocation, command: string[], log: number) {
  const openHome = openSync(home, "r");
  try {
    return Bun.spawn(command, {
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", log, log, openHome],
      ...(isRoot() ? account : {}),
      // A session of its own, because a terminal signals all processes of its group, and the service
      // needs the database until it has ended.
      detached: true,
    });
  } finally {
    closeSync(openHome);
  }
}

async function runInitdb({ location, binaries, settings }: ServerPlan): Promise<void> {
  const { password, programsHome } = location;
  writeDurablySync(password, randomBytes(EMBEDDED_PASSWORD_BYTES).toString("base64url"));
  chownToAccount(location, password);
  const log = openLog(location);
  const program = runProgram(
    location,
    [
      binaries.initdb,
      `--pgdata=${join(programsHome, PARTIAL)}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${join(programsHome, basename(password))}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // Text sorts by bytes, so that its order is the same on every machine.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(settings["fsync"] === "off" ? ["--no-sync"] : []),
    ],
    log.file,
  );
  const status = await program.exited;
  log.close();
  if (status !== 0) throw explainFailure("create its data folder", log.written(), location.log);
}

/** Opens the log, and empties a large one. `written` returns the part that is new since then. */
export function openLog(location: ClusterLocation) {
  const { log } = location;
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const file = openSync(log, size > LOG_MAX_BYTES ? "w" : "a", 0o600);
  chownToAccount(location, log);
  const start = fstatSync(file).size;
  const written = () => readFileSync(log).subarray(start).toString();
  return { file, written, close: () => closeSync(file) };
}

function checkVersion(location: ClusterLocation, binaries: Binaries): void {
  const file = join(location.cluster, "PG_VERSION");
  const version = existsSync(file) ? readFileSync(file, "utf8").trim() : "an unknown version";
  if (version === binaries.major) return;
  throw new EmbeddedDatabaseError(
    `the data in ${location.cluster} is of PostgreSQL ${version}, but this program contains ${binaries.major}: dump it with the old version, move the folder away and import, or set DATABASE_URL`,
  );
}

import { chownSync, closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isRoot } from "./embedded/account.ts";
import { findBinaries } from "./embedded/binaries.ts";
import { ensureCluster, type ServerPlan } from "./embedded/cluster.ts";
import { EmbeddedDatabaseError, explainFileError } from "./embedded/failure.ts";
import { type ClusterLocation, locateCluster } from "./embedded/location.ts";
import { type Server, START_TIMEOUT_MS, serverUrl, startServer } from "./embedded/server.ts";

export { EmbeddedDatabaseError } from "./embedded/failure.ts";
export { hasCluster } from "./embedded/location.ts";

const JOIN_POLL_MS = 20;
/** Interval at which a process that joined a server checks whether its owner has ended. */
const OWNER_POLL_MS = 500;
/** The pause after a failed restart of the server. */
const RESTART_PAUSE_MS = 5_000;

type EmbeddedDatabaseOptions = {
  /** The folder of the cluster; created when it does not exist. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
  /** PostgreSQL settings that override the defaults if this process starts the server. */
  readonly settings?: ServerPlan["settings"];
};

export type EmbeddedDatabase = {
  /** `postgres://user:password@folder-of-the-socket:port/database`, for this process only; never log it. */
  readonly url: string;
  /** Ends this use; the owner stops PostgreSQL. Further calls do nothing. */
  close(): Promise<void>;
};

/** How this process began to use a server. Only its owner has the server, and the lock to release. */
type Begun = { readonly url: string; readonly server?: Server; readonly release?: () => void };

/**
 * Opens the embedded PostgreSQL of a data folder. The first process owns the server, which is its child: it creates the
 * cluster, starts the server, starts it again when it dies, and stops it. Other processes join it through its socket.
 * When the owner ends, for whatever reason, one of them becomes the owner and starts the server again at the same
 * address. Throws `EmbeddedDatabaseError`, one line with the remedy.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const { log, settings = {} } = options;
  const location = locateCluster(options.dataDir);
  const plan = { location, binaries: findBinaries(location.account), settings, log };
  const ending = new AbortController();
  const begun = await begin(plan, ending.signal).catch((error) => {
    throw explainFileError(location.home, error);
  });
  const kept = keep(plan, begun, ending.signal);
  return {
    url: begun.url,
    close() {
      ending.abort();
      return kept;
    },
  };
}

/**
 * Takes the right to start and to stop the server, unless another process has it. The kernel takes it from a
 * process that ends, however that happens. Resolves to the function that gives it back.
 */
export async function tryOwn({ home }: ClusterLocation): Promise<(() => void) | undefined> {
  const lock = join(home, "lock");
  // Loaded here, so that `tessera doctor` can say that the search core does not load.
  const { tryLockFile, unlockFile } = await import("../../native/index.ts");
  closeSync(openSync(lock, "a", 0o600));
  // When root opens the cluster of an ordinary user, that user must be able to lock the file later.
  const { uid, gid } = statSync(home);
  if (isRoot() && statSync(lock).uid !== uid) chownSync(lock, uid, gid);
  const handle = tryLockFile(lock);
  return handle === null ? undefined : () => unlockFile(handle);
}

/** Starts the server as its owner, or joins that of another process once it accepts connections. */
async function begin(plan: ServerPlan, signal: AbortSignal): Promise<Begun> {
  const { location } = plan;
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (; Date.now() < deadline; await Bun.sleep(JOIN_POLL_MS)) {
    const release = await tryOwn(location);
    if (release !== undefined) {
      try {
        await ensureCluster(plan);
        const server = await startServer(plan, signal);
        return { url: server.url, server, release };
      } catch (error) {
        release();
        throw error;
      }
    }
    const url = await serverUrl(location);
    if (url !== undefined) return { url };
  }
  throw new EmbeddedDatabaseError(
    `another process has been starting or stopping PostgreSQL for ${START_TIMEOUT_MS / 1_000} s: try again later, or end that process (see ${location.log})`,
  );
}

/** Keeps the server running until `signal`: the owner starts it again, and others become the owner when it has ended. */
async function keep(plan: ServerPlan, begun: Begun, signal: AbortSignal): Promise<void> {
  let { server, release } = begun;
  const ending = new Promise((resolve) => signal.addEventListener("abort", resolve));
  // A pause does not keep the process running.
  const pause = (ms: number) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => {});
  while (!signal.aborted) {
    try {
      await Promise.race([server?.exited, ending]);
      release ??= await tryOwn(plan.location);
      if (release === undefined) await pause(OWNER_POLL_MS);
      else if (!signal.aborted) {
        server = undefined;
        plan.log("PostgreSQL has ended; starting it again");
        server = await startServer(plan, signal);
      }
    } catch (error) {
      if (signal.aborted) break;
      plan.log(explainFileError(plan.location.home, error).message);
      await pause(RESTART_PAUSE_MS);
    }
  }
  try {
    await server?.stop();
  } finally {
    release?.();
  }
}

import { findBinaries } from "./embedded/binaries.ts";
import { ensureCluster } from "./embedded/cluster.ts";
import { locateCluster, SHARED_FOLDER } from "./embedded/location.ts";
import {
  runningPort,
  type ServerSettings,
  serverPid,
  serverUrl,
  startServer,
  stopServer,
} from "./embedded/server.ts";
import { withUsers } from "./embedded/users.ts";
import { watchServer } from "./embedded/watch.ts";

export { EmbeddedDatabaseError } from "./embedded/failure.ts";
export { hasCluster } from "./embedded/location.ts";

type EmbeddedDatabaseOptions = {
  /** The folder of the cluster; created when it does not exist. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
  /** PostgreSQL settings that override the defaults if this call starts the server. */
  readonly settings?: ServerSettings;
};

export type EmbeddedDatabase = {
  /** `postgres://user:password@127.0.0.1:port/database`; never log it. */
  readonly url: string;
  /** Whether this call created the cluster. */
  readonly fresh: boolean;
  /** Ends this use; the last user stops PostgreSQL. Further calls do nothing. */
  close(): Promise<void>;
};

/**
 * Opens the embedded PostgreSQL of a data folder: joins the server that another process runs, or
 * creates the cluster and starts one. A server keeps running when all its users are killed, and the
 * next user joins it. A server that dies is started again at the same address. Throws
 * `EmbeddedDatabaseError`, one line with the remedy.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const { log, settings = {} } = options;
  const location = locateCluster(options.dataDir);
  const binaries = findBinaries(location.account, SHARED_FOLDER);
  const durable = settings.fsync !== "off";

  const opened = await withUsers(location.users, log, async (users) => {
    const fresh = await ensureCluster(location, binaries, durable);
    if (fresh) log(`created a PostgreSQL ${binaries.major} cluster in ${location.cluster}`);
    const port = (await runningPort(location)) ?? (await startServer(location, binaries, settings));
    return { fresh, port, url: serverUrl(location, port), token: users.add() };
  });

  const endWatch = watchServer(
    () => serverPid(location),
    () =>
      withUsers(location.users, log, async () => {
        if ((await runningPort(location)) === undefined)
          await startServer(location, binaries, settings, opened.port);
      }),
    log,
  );

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await endWatch();
    await withUsers(location.users, log, async (users) => {
      users.remove(opened.token);
      if (!users.any()) await stopServer(location, binaries);
    });
  };
  return {
    url: opened.url,
    fresh: opened.fresh,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

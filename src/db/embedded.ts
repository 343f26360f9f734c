import { findBinaries } from "./embedded/binaries.ts";
import { ensureCluster } from "./embedded/cluster.ts";
import { guard } from "./embedded/guard.ts";
import { findPlace, SHARED_FOLDER } from "./embedded/place.ts";
import {
  runningPort,
  type ServerSettings,
  serverProcess,
  serverUrl,
  startServer,
  stopServer,
} from "./embedded/server.ts";
import { withUsers } from "./embedded/users.ts";

export { EmbeddedDatabaseError } from "./embedded/failure.ts";

export type EmbeddedDatabaseOptions = {
  /** The folder that holds the cluster; made when it does not exist. */
  readonly dataDir: string;
  readonly log: (line: string) => void;
  /** PostgreSQL settings over the defaults, for whoever starts the server. */
  readonly settings?: ServerSettings;
};

export type EmbeddedDatabase = {
  /** `postgres://user:password@127.0.0.1:port/database`; never log it. */
  readonly url: string;
  /** Whether this call created the cluster. */
  readonly fresh: boolean;
  /** Ends this use. The last user stops PostgreSQL. A second call does nothing. */
  close(): Promise<void>;
};

/**
 * Opens the embedded PostgreSQL of a data folder: joins the one that another process runs, or
 * creates the cluster and starts it. A server whose users were all killed keeps running and is
 * joined by the next one; one that dies is started again at the same address. Throws `EmbeddedDatabaseError`, one line with the remedy.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const { log, settings = {} } = options;
  const place = findPlace(options.dataDir);
  const binaries = findBinaries(place.account, SHARED_FOLDER);
  const durable = settings.fsync !== "off";

  const opened = await withUsers(place.users, log, async (users) => {
    const fresh = await ensureCluster(place, binaries, durable);
    if (fresh) log(`created a PostgreSQL ${binaries.major} cluster in ${place.cluster}`);
    const port = (await runningPort(place)) ?? (await startServer(place, binaries, settings));
    return { fresh, url: serverUrl(place, port), token: users.add() };
  });

  const endGuard = guard(
    () => serverProcess(place),
    () =>
      withUsers(place.users, log, async () => {
        if ((await runningPort(place)) === undefined) await startServer(place, binaries, settings);
      }),
    log,
  );

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await endGuard();
    await withUsers(place.users, log, async (users) => {
      users.remove(opened.token);
      if (!users.any()) await stopServer(place, binaries);
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

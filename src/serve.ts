import { buildApp } from "./app.ts";
import type { Sql } from "./db/client.ts";
import { watchSchema } from "./db/migrate.ts";
import { databaseId, databaseName } from "./db/open.ts";
import { greeting } from "./demo/demo.ts";
import {
  assertRelations,
  DRAIN_DEADLINE_MS,
  DRAIN_MARGIN_MS,
  DRAIN_REQUESTS_MS,
} from "./domain/limits.ts";
import { type Listener, listen } from "./http/listen.ts";
import { withCheckedHost } from "./http/router.ts";
import { configWarnings } from "./ops/config/load.ts";
import type { Config } from "./ops/config/schema.ts";
import { Resources } from "./ops/lifecycle.ts";
import { createLog, type Log } from "./ops/observability/log.ts";
import { openTracing } from "./ops/observability/tracing.ts";
import { localUrl } from "./ops/running-service.ts";
import { ServiceClaim, ServiceRunsError } from "./ops/service-claim.ts";
import { openServices } from "./services.ts";

interface RunningServer {
  readonly url: string;
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  /** The message for a user who has no key yet. */
  readonly greeting: string;
  /** All that it answers, each path with a colon before the names of its parameters. */
  readonly routes: ReadonlyArray<{ readonly method: string; readonly path: string }>;
  /** Resolves when this version can no longer use the database, because a newer one has migrated it. */
  readonly refused: Promise<Error>;
  /** Stops accepting, finishes running requests and closes everything. */
  stop(): Promise<void>;
}

/** The address of a port, for a URL. */
function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function baseUrlOf({ baseUrl, host }: Config, port: number): string {
  return baseUrl ?? localUrl(host, port);
}

/**
 * Takes the data directory, which one service has at a time if its database is in there. Undefined if the
 * directory cannot be used: the database and the indexes, which need it, say why.
 */
async function claimData(config: Config, log: Log): Promise<ServiceClaim | undefined> {
  const { dataDir, databaseUrl, redisUrl } = config;
  let claim: ServiceClaim;
  try {
    claim = new ServiceClaim(dataDir);
  } catch (err) {
    // Only commands need it, and requests can be answered while a disk is full.
    log.warn({ err }, "commands do not find this service: its data directory cannot be locked");
    return undefined;
  }
  if (claim.isHeld) return claim;
  const other = await claim.holder();
  if (databaseUrl === undefined) {
    throw new ServiceRunsError(
      `a service runs on the data directory ${dataDir} already: ${other}; stop it first, or give this one another DATA_DIR`,
    );
  }
  if (redisUrl === undefined) {
    log.warn(
      `another service (${other}) runs on this data directory, and without REDIS_URL the two share no ` +
        "leases, limits and cursors: stop one of them, or give REDIS_URL to both",
    );
  }
  return claim;
}

/** Leaves the address for commands. */
async function announce(
  { config, claim, log }: { config: Config; claim: ServiceClaim | undefined; log: Log },
  port: number,
  sql: Sql,
): Promise<void> {
  const service = {
    url: localUrl(config.host, port),
    baseUrl: baseUrlOf(config, port),
    pid: process.pid,
    database: databaseName(config),
    databaseId: await databaseId(sql),
  };
  claim?.announce(service, (err) => {
    // Only commands read it, and requests can be answered while a disk is full.
    log.warn({ err }, "commands do not find this service: its address could not be written");
  });
}

function stopper(listener: Listener, resources: Resources, log: Log): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    const deadline = performance.now() + DRAIN_DEADLINE_MS - DRAIN_MARGIN_MS;
    await listener.drain(DRAIN_REQUESTS_MS);
    await resources.close(deadline - performance.now(), (resource, err) => {
      log.error({ err, resource }, "did not close cleanly");
    });
  };
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

function listenAs(config: Config, claim: ServiceClaim | undefined, log: Log): Listener {
  const { host, port, corsOrigins } = config;
  try {
    const listener = listen({
      host,
      port,
      log,
      corsOrigins,
      baseUrlOf: (bound) => baseUrlOf(config, bound),
    });
    claim?.name(localUrl(host, listener.port));
    return listener;
  } catch (error) {
    claim?.release();
    throw error;
  }
}

const NEVER = new AbortController().signal;

/**
 * Starts the server and resolves when it accepts requests. While the database does not answer, it
 * waits, alive but not ready; `signal` ends the wait.
 */
export async function serve(config: Config, signal = NEVER): Promise<RunningServer> {
  assertRelations();
  const log = createLog(config.logLevel);
  for (const warning of configWarnings(config)) log.warn(warning);
  const claim = await claimData(config, log);
  const listener = listenAs(config, claim, log);
  const resources = new Resources();
  resources.push("data directory", () => claim?.release());
  const stop = stopper(listener, resources, log);
  try {
    resources.push("tracing", await openTracing(config.tracesUrl));
    const baseUrl = baseUrlOf(config, listener.port);
    const address = { baseUrl, listener };
    const { services, demo } = await openServices(config, address, log, { resources, signal });
    const schema = watchSchema(services.sql);
    resources.push("schema", () => schema.close());
    const app = buildApp(services);
    await announce({ config, claim, log }, listener.port, services.sql);
    listener.use(withCheckedHost((request) => app.fetch(request)));
    // Routes of all methods answer 405.
    const routes = app.routes.filter(({ method }) => method !== "ALL");
    const own = { greeting: await greeting(services.sql, demo, baseUrl), routes };
    const { refused } = schema;
    return { url: urlOf(config.host, listener.port), baseUrl, ...own, refused, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Serves until SIGTERM or SIGINT, then drains. Resolves with the exit status. Drains and throws a DatabaseRefusal when a
 * newer version has migrated the database.
 */
export async function serveUntilSignal(config: Config): Promise<number> {
  const ending = new AbortController();
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener("abort", () => resolve());
  });
  // A terminal signals the whole process group, and npm repeats the signal to its child. The second
  // one must not end the process during its drain, which has a deadline.
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => ending.abort());
  // The service goes on without a reader of its output.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  let server: RunningServer;
  try {
    server = await serve(config, ending.signal);
  } catch (error) {
    // A signal that ends the wait for the database is not an error.
    if (ending.signal.aborted) return 0;
    throw error;
  }
  process.stdout.write(`listening on ${server.url}\nconsole: ${server.baseUrl}/console\n`);
  process.stdout.write(server.greeting);
  const refusal = await Promise.race([ended, server.refused]);
  // A closer that hangs must not keep the process running beyond its deadline.
  setTimeout(() => process.exit(1), DRAIN_DEADLINE_MS).unref();
  await server.stop();
  if (refusal !== undefined) throw refusal;
  return 0;
}

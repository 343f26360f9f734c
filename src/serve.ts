import pRetry from "p-retry";
import pTimeout from "p-timeout";
import { buildApp, type Services } from "./app.ts";
import { openAuth } from "./auth/open.ts";
import { configWarnings } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { openCoordinator } from "./coordination/open.ts";
import type { Sql } from "./db/client.ts";
import { isUnavailable } from "./db/errors.ts";
import { migrate } from "./db/migrate.ts";
import { openConfiguredDatabase } from "./db/open.ts";
import { type Demo, demoBanner, prepareDemo } from "./demo/demo.ts";
import { explain } from "./failure.ts";
import { openCursorSigner } from "./http/cursor.ts";
import { type Listener, listen } from "./http/listen.ts";
import { EmbeddedKnowledge } from "./knowledge/embedded-engine.ts";
import { createLog, type Log } from "./observability/log.ts";
import { createMetrics } from "./observability/metrics.ts";
import { Readiness } from "./observability/readiness.ts";
import { ScopeResolver } from "./scopes/resolver.ts";
import { openEngine } from "./search/open.ts";
import { Resources } from "./shared/lifecycle.ts";
import {
  assertRelations,
  DB_WAIT_REPORT_ATTEMPTS,
  DB_WAIT_RETRY_MS,
  DRAIN_DEADLINE_MS,
  DRAIN_REQUESTS_MS,
  READINESS_TIMEOUT_MS,
} from "./shared/limits.ts";
import { type TextMessage, ViewStore } from "./text/index.ts";

export interface RunningServer {
  readonly url: string;
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  /** What this start made for a newcomer to look at, if anything. */
  readonly demo: Demo | undefined;
  /** Stops accepting, finishes what runs, closes everything. */
  stop(): Promise<void>;
}

function baseUrlOf(config: Config, port: number): string {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return config.baseUrl ?? `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`;
}

/**
 * Brings the database to the current schema. One that does not answer yet is waited for: what
 * starts together need not start in order. Everything else that is wrong with it is thrown.
 */
async function migrateWhenReachable(sql: Sql, log: Log, signal: AbortSignal): Promise<void> {
  const applied = await pRetry(() => migrate(sql), {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: DB_WAIT_RETRY_MS,
    shouldRetry({ error, attemptNumber }) {
      if (!isUnavailable(error) || signal.aborted) return false;
      if (attemptNumber % DB_WAIT_REPORT_ATTEMPTS === 1) log.warn(`waiting: ${explain(error)}`);
      return true;
    },
  });
  if (applied.length > 0) log.info({ applied }, "migrated the database");
}

/** Opens everything that the application stands on. Each closer stands beside its opener. */
async function openServices(
  config: Config,
  baseUrl: string,
  log: Log,
  { resources, signal }: { resources: Resources; signal: AbortSignal },
): Promise<{ services: Services; demo: Demo | undefined }> {
  const database = await openConfiguredDatabase(config, (line) => log.info(line));
  resources.push("database", () => database.close());
  const { sql } = database;
  await migrateWhenReachable(sql, log, signal);
  // Before the indexes are loaded, so that its first search finds it.
  const demo = await prepareDemo(config, sql, log);

  const readiness = new Readiness();
  readiness.add("database", async () => {
    const answer = sql`SELECT 1`.then(() => null).catch(() => "does not answer");
    const fallback = () => "does not answer in time";
    return await pTimeout(answer, { milliseconds: READINESS_TIMEOUT_MS, fallback });
  });
  const auth = await openAuth(config, sql, log);
  resources.push("authentication", () => auth.close());
  const coordinator = await openCoordinator(config, log);
  resources.push("coordination", () => coordinator.close());

  const cursors = await openCursorSigner(sql);

  const { authenticator, clearOnAccessChange } = auth;
  const metrics = createMetrics();
  // Without coordination deliveries and searches go on, so it is watched but not waited for.
  metrics.observeCoordination(() => coordinator.check());
  const { engine, indexer, lookups } = openEngine(config, database.url, log, metrics);
  resources.push("search engine", () => engine.close());
  readiness.add("index", async () => engine.state().behind);
  const views = new ViewStore();
  indexer.subscribe("text", (message) => views.receive(message as TextMessage));
  const knowledge = new EmbeddedKnowledge(views, indexer, engine, (task) => lookups.lookup(task));
  const scopes = new ScopeResolver(sql);
  auth.clearOnAccessChange(scopes);
  const services = {
    ...{ config, baseUrl, sql, log, metrics, readiness, authenticator, coordinator, cursors },
    clearOnAccessChange,
    ...{ engine, indexer, scopes, knowledge },
  };
  return { services, demo };
}

function stopper(listener: Listener, resources: Resources, log: Log): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await listener.drain(DRAIN_REQUESTS_MS);
    await resources.close((resource, err) => log.error({ err, resource }, "did not close cleanly"));
  };
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

const NEVER = new AbortController().signal;

/**
 * Starts the server and resolves when it takes requests. While the database does not answer, it
 * waits, alive but not ready; `signal` ends the wait.
 */
export async function serve(config: Config, signal = NEVER): Promise<RunningServer> {
  assertRelations();
  const log = createLog(config.logLevel);
  for (const warning of configWarnings(config)) log.warn(warning);
  const listener = listen(config.host, config.port);
  const resources = new Resources();
  const stop = stopper(listener, resources, log);
  try {
    const baseUrl = baseUrlOf(config, listener.port);
    const { services, demo } = await openServices(config, baseUrl, log, { resources, signal });
    const app = buildApp(services);
    listener.use((request) => app.fetch(request));
    const host = config.host.includes(":") ? `[${config.host}]` : config.host;
    return { url: `http://${host}:${listener.port}`, baseUrl, demo, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Serves until SIGTERM or SIGINT, then drains; resolves with the exit status. */
export async function serveUntilSignal(config: Config): Promise<number> {
  const ending = new AbortController();
  const ended = new Promise<void>((resolve) => {
    ending.signal.addEventListener("abort", () => resolve());
  });
  // npm repeats to its child what a terminal already sent to the whole group: the second signal
  // must not end the process in the middle of its drain, which has a deadline of its own.
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => ending.abort());
  let server: RunningServer;
  try {
    server = await serve(config, ending.signal);
  } catch (error) {
    // Whoever ends a start that waits gets what he asked for.
    if (ending.signal.aborted) return 0;
    throw error;
  }
  process.stdout.write(`listening on ${server.url}\n`);
  if (server.demo) process.stdout.write(demoBanner(server.demo, server.baseUrl));
  await ended;
  // A closer that hangs must not keep the process beyond its promise.
  setTimeout(() => process.exit(1), DRAIN_DEADLINE_MS).unref();
  await server.stop();
  return 0;
}

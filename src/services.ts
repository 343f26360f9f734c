import type { Services } from "./app.ts";
import { AuditLog } from "./auth/audit/audit-log.ts";
import { openAuth } from "./auth/open.ts";
import { openEmbedding } from "./content/embeddings/queue/embedding-queue.ts";
import { WriteThread } from "./content/files/write-thread.ts";
import { ChangeGate } from "./content/scopes/change-gate.ts";
import { ScopeResolver } from "./content/scopes/resolver.ts";
import type { Sql } from "./db/client.ts";
import type { Coordinator } from "./db/coordination/coordinator.ts";
import { openCoordinator } from "./db/coordination/open.ts";
import { migrateWhenReachable } from "./db/migrate.ts";
import {
  checkWrites,
  type OpenedDatabase,
  openConfiguredDatabase,
  sharedIdentity,
} from "./db/open.ts";
import type { Demo } from "./demo/content.ts";
import { prepareDemo } from "./demo/demo.ts";
import type { Engine } from "./engine/engine.ts";
import { openEngine } from "./engine/open.ts";
import { openCursorSigner } from "./http/cursor.ts";
import type { Listener } from "./http/listen.ts";
import { BodyReader } from "./http/load/body.ts";
import { openGates } from "./http/load/gates.ts";
import { openRateLimits } from "./http/load/rate-limit.ts";
import { RejectionThrottle } from "./http/rejection-throttle.ts";
import type { Config } from "./ops/config/schema.ts";
import type { Resources } from "./ops/lifecycle.ts";
import { observeCalls } from "./ops/observability/calls.ts";
import type { Log } from "./ops/observability/log.ts";
import { createMetrics, type Metrics } from "./ops/observability/metrics.ts";
import { Readiness } from "./ops/observability/readiness.ts";
import { QuestionLog } from "./query/questions/question-log.ts";

async function openCoordination(
  config: Config,
  sql: Sql,
  log: Log,
  metrics: Metrics,
): Promise<Coordinator> {
  const calls = observeCalls(metrics.calls, "redis");
  return await openCoordinator(config, await sharedIdentity(sql), log, calls);
}

/** Brings the database up to date, before the indexes are loaded, so that they contain the demo project. */
async function prepareDatabase(config: Config, sql: Sql, log: Log, signal: AbortSignal) {
  await migrateWhenReachable(sql, log, signal);
  return await prepareDemo(config, sql, log);
}

function readinessOf(
  database: OpenedDatabase,
  engine: Engine,
  coordinator: Coordinator,
): Readiness {
  const readiness = new Readiness();
  readiness.add("database", () => database.check());
  readiness.add("index", async () => engine.state().behind);
  // Searches and other reads continue without changes.
  readiness.addUseful("writes", () => checkWrites(database.sql));
  // Without coordination requests continue, so traffic is still welcome.
  readiness.addUseful("redis", () => coordinator.check());
  return readiness;
}

/** Opens everything that the application depends on. Every closer follows its opener. */
export async function openServices(
  config: Config,
  { baseUrl, listener }: { baseUrl: string; listener: Listener },
  log: Log,
  { resources, signal }: { resources: Resources; signal: AbortSignal },
): Promise<{ services: Services; demo: Demo | undefined }> {
  const metrics = createMetrics();
  const database = await openConfiguredDatabase(config, (line) => log.info(line), {
    observer: observeCalls(metrics.calls, "postgresql"),
    onOutage: (isDown) => metrics.databaseUp.set(isDown ? 0 : 1),
  });
  resources.push("database", () => database.close());
  const { sql } = database;
  const demo = await prepareDatabase(config, sql, log, signal);

  const {
    authenticator,
    clearOnAccessChange,
    forgetAccess,
    close: closeAuth,
  } = await openAuth(config, sql, log, metrics);
  resources.push("authentication", closeAuth);
  const coordinator = await openCoordination(config, sql, log, metrics);
  resources.push("coordination", () => coordinator.close());
  const rateLimits = openRateLimits(config, coordinator, metrics.rateLimited);
  resources.push("rate limits", () => rateLimits?.close());
  const audit = new AuditLog(sql, log);
  resources.push("audit log", () => audit.close());
  const questions = new QuestionLog(sql, log, config.countsQuestions);
  resources.push("questions", () => questions.close());
  const cursors = await openCursorSigner(sql);
  const scopes = new ScopeResolver(sql, metrics.cache("scopes"));
  clearOnAccessChange(scopes);

  const { embedders, queries, imports } = await openEmbedding(config, database, log, resources);
  clearOnAccessChange(queries);
  const writes = new WriteThread({ databaseUrl: database.url });
  resources.push("writes", () => writes.close());

  const { engine, scheduler } = await openEngine(config, database, log, metrics, signal);
  resources.push("search engine", () => engine.close());

  metrics.observeCoordination(() => coordinator.check());

  const gates = openGates(scheduler);
  const services = {
    config,
    baseUrl,
    sql,
    log,
    metrics,
    readiness: readinessOf(database, engine, coordinator),
    authenticator,
    coordinator,
    cursors,
    embedders,
    queries,
    clearOnAccessChange,
    forgetAccess,
    engine,
    scopes,
    bodies: new BodyReader(gates),
    gates,
    changes: new ChangeGate(sql, cursors, engine),
    refusals: new RejectionThrottle((request) => listener.connectionOf(request)),
    rateLimits,
    audit,
    questions,
    imports,
    writes,
    disableIdleTimeout: (request: Request) => listener.disableIdleTimeout(request),
  };
  return { services, demo };
}

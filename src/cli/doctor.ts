import type { Command } from "commander";
import { listAllProjects } from "../content/projects/manage.ts";
import { openDatabase, type Sql } from "../db/client.ts";
import { openCoordinator } from "../db/coordination/open.ts";
import { hasCluster } from "../db/embedded.ts";
import { schemaState } from "../db/migrate.ts";
import { openConfiguredDatabase, serverOf } from "../db/open.ts";
import { DatabaseRefusal, requireSession } from "../db/session/session.ts";
import {
  INDEX_STATE_FRESH_SECONDS,
  RECALL_RECALIBRATE_SAMPLES,
  RECALL_TARGET,
} from "../domain/limits.ts";
import { VERSION } from "../domain/version.ts";
import { extensionVersion } from "../engine/pgvector/open-schema.ts";
import { explain } from "../failure.ts";
import { readIndexReports, readParkedTasks, shortId } from "../index/changes/index-state.ts";
import { ConfigError, configWarnings } from "../ops/config/load.ts";
import type { Config } from "../ops/config/schema.ts";
import { createLog } from "../ops/observability/log.ts";
import { answers, findService } from "../ops/running-service.ts";
import { type Flags, newCommand } from "./command.ts";
import { ReportedError } from "./command-error.ts";
import {
  checkDisk,
  checkEmbedders,
  checkProjectEmbedders,
  type Finding,
  failed,
  ok,
  warning,
} from "./doctor-checks.ts";
import { configOf, type Io } from "./io.ts";
import { type Column, printList } from "./output.ts";

/** The oldest supported major version of PostgreSQL. */
const POSTGRES_VERSION_MIN = 14;

const COLUMNS: readonly Column<Finding>[] = [
  ["check", ({ check }) => check],
  ["state", ({ state }) => state],
  ["found", ({ found }) => found],
  ["remedy", ({ remedy }) => remedy ?? ""],
];

export function doctorCommand(io: Io): Command {
  return newCommand("doctor", "json").action(async ({ json }: Flags) => {
    const findings = await examine(io);
    printList(io, findings, COLUMNS, { json, empty: "" });
    if (findings.some(({ state }) => state === "failed")) throw new ReportedError();
  });
}

async function examine(io: Io): Promise<Finding[]> {
  const versions = ok(
    "version",
    `Tessera ${VERSION}, Bun ${Bun.version}, ${process.platform}-${process.arch}`,
  );
  let config: Config;
  try {
    config = configOf(io);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.faults.map((fault) =>
      failed("configuration", fault, "correct the variable"),
    );
    return [versions, ...faults];
  }
  const warnings = configWarnings(config).map((found) => warning("configuration", found, ""));
  return [
    versions,
    ...(warnings.length > 0 ? warnings : [ok("configuration", "valid")]),
    ...(await checked("search core", checkAddon, ADDON_REMEDY)),
    ...(await checked("disk", () => checkDisk(config))),
    ...(await checked("service", () => checkService(config))),
    ...(await checked("database", () => checkDatabase(io, config))),
    ...(await checked("vector database", () => checkVectorDatabase(config))),
    ...(await checked("redis", () => checkRedis(config), REDIS_REMEDY)),
    ...(await checked("billing", () => checkBilling(config))),
    ...(await checked("embedders", () => checkEmbedders(io))),
  ];
}

type Checked = Finding | readonly Finding[];

/** The findings of a check. A check that throws is a finding itself, so that the others still run. */
async function checked(
  name: string,
  check: () => Checked | Promise<Checked>,
  remedy?: string,
): Promise<readonly Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    return [refused(name, error, remedy)];
  }
}

const ADDON_REMEDY = "install a C++ compiler, then run: bun native/build.ts";

async function checkAddon(): Promise<Finding> {
  const { projects } = await import("../../native/index.ts");
  projects();
  return ok("search core", "loads");
}

async function checkService({ dataDir }: Config): Promise<Finding> {
  const service = findService(dataDir);
  if (service === undefined) return ok("service", `none runs on ${dataDir}`);
  if (await answers(service)) return ok("service", `answers at ${service.url}`);
  return warning("service", `${service.url} does not answer`, "start it, or look into its log");
}

async function isRunning({ dataDir }: Config): Promise<boolean> {
  const service = findService(dataDir);
  return service !== undefined && (await answers(service));
}

async function checkDatabase(io: Io, config: Config): Promise<Finding[]> {
  if (config.databaseUrl === undefined && !hasCluster(config.dataDir)) {
    return [
      warning("database", `none in ${config.dataDir}`, "start the service, which creates it"),
    ];
  }
  const database = await openConfiguredDatabase(config, () => {}, { connections: 1 });
  const findings: Finding[] = [];
  try {
    for await (const finding of examineDatabase(database.sql, io, config)) findings.push(finding);
  } catch (error) {
    findings.push(refused("database", error));
  }
  // A server that ends while it has no request is not worth a trace either.
  await database.close().catch(() => {});
  return findings;
}

/** The finding for an error of a check. */
function refused(check: string, error: unknown, remedy = "see docs/troubleshooting.md"): Finding {
  if (error instanceof DatabaseRefusal) return failed(check, error.found, error.remedy);
  return failed(check, explain(error), remedy);
}

async function checkServer(sql: Sql): Promise<Finding> {
  const { major, name, isStandby } = await serverOf(sql);
  const found = `PostgreSQL ${name}${isStandby ? ", a standby, which accepts no changes" : ""}`;
  if (isStandby) return failed("database", found, "let DATABASE_URL name the primary server");
  if (major >= POSTGRES_VERSION_MIN) return ok("database", found);
  return failed("database", found, `use PostgreSQL ${POSTGRES_VERSION_MIN} or later`);
}

async function* examineDatabase(sql: Sql, io: Io, config: Config): AsyncGenerator<Finding> {
  yield await checkServer(sql);
  await requireSession(sql);
  yield ok("database sessions", "UTF8, with the settings that the service asks for");
  const [schema, pending] = await checkSchema(sql);
  yield schema;
  // Other schemas have other tables.
  if (pending) return;
  yield* await checkIndexes(sql, await isRunning(config));
  yield* await checkParkedTasks(sql);
  yield* await checkProjectEmbedders(io, sql);
}

/** The finding about the schema, and whether the schema differs from that of this version. */
async function checkSchema(sql: Sql): Promise<[Finding, boolean]> {
  try {
    const { version, pending } = await schemaState(sql);
    const newest = pending.at(-1)?.version;
    if (newest === undefined) return [ok("schema", `version ${version}`), false];
    const remedy = "start the service, or run: ./tessera migrate";
    if (version === null) return [warning("schema", "none", remedy), true];
    const found = `version ${version}, this version needs ${newest}`;
    return [warning("schema", found, `back up, then ${remedy}`), true];
  } catch (error) {
    return [refused("schema", error), true];
  }
}

/** The database of the engine pgvector. */
async function checkVectorDatabase(config: Config): Promise<Finding[]> {
  const url = config.vectorDatabaseUrl;
  if (url === undefined) return [];
  const check = "vector database";
  const sql = openDatabase(url, { connections: 1 });
  try {
    await requireSession(sql);
    const version = await extensionVersion(sql);
    if (version !== undefined) return [ok(check, `pgvector ${version}`)];
    return [warning(check, "has no extension vector yet", "start the service, which creates it")];
  } finally {
    await sql.end({ timeout: 1 }).catch(() => {});
  }
}

async function checkIndexes(sql: Sql, running: boolean): Promise<Finding[]> {
  const reports = await readIndexReports(sql);
  if (reports.length === 0) {
    if ((await listAllProjects(sql)).length === 0)
      return [ok("indexes", "none: there are no projects")];
    if (running) return [ok("indexes", "none loaded: a search loads those of its project")];
    return [warning("indexes", "no running service reports any", "start the service")];
  }
  const servers = Map.groupBy(reports, ({ server }) => server);
  return [...servers].map(([server, own]) => checkNode(shortId(server), own));
}

type Report = Awaited<ReturnType<typeof readIndexReports>>[number];

/** The least of the numbers that are known. */
function least(numbers: ReadonlyArray<number | null>): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function checkNode(server: string, reports: readonly Report[]): Finding {
  const check = `indexes of ${server}`;
  const age = Math.max(...reports.map(({ ageSeconds }) => ageSeconds));
  if (age > INDEX_STATE_FRESH_SECONDS) {
    const remedy = "if the service should be running, look into its log";
    return warning(check, `last seen ${age} s ago`, remedy);
  }
  // All indexes of a project have its changes.
  const projects = Map.groupBy(reports, ({ projectId }) => projectId);
  const pending = [...projects.values()]
    .map((own) => Math.max(...own.map((report) => report.pending)))
    .reduce((sum, changes) => sum + changes, 0);
  const recall = least(reports.map((report) => report.recall));
  const samples = least(reports.map((report) => report.samples)) ?? 0;
  const found = `${pending} changes pending, recall ${recall?.toFixed(4) ?? "not measured yet"}`;
  if (recall !== null && samples >= RECALL_RECALIBRATE_SAMPLES && recall < RECALL_TARGET) {
    return warning(check, found, "it calibrates itself again; see ./tessera index status");
  }
  return ok(check, found);
}

async function checkParkedTasks(sql: Sql): Promise<Finding[]> {
  const remedy = "the log says why; ./tessera index rebuild --project rebuilds its index";
  return (await readParkedTasks(sql)).map(({ slug, task, failures, parkedAt }) => {
    const found = `${task} failed twice in a row ${failures} times, the last at ${parkedAt.toISOString()}`;
    return warning(`parked tasks of ${slug}`, found, remedy);
  });
}

function checkBilling({ billing }: Config): Finding {
  if (billing.secretKey !== undefined) return ok("billing", "a payment provider is configured");
  return ok("billing", "not configured: upgrades are answered 500 until STRIPE_SECRET_KEY is set");
}

const REDIS_REMEDY =
  "check that Redis runs with memory to spare, and that REDIS_URL names its primary and may write";

async function checkRedis(config: Config): Promise<Finding> {
  if (config.redisUrl === undefined) {
    return ok("redis", "none: correct for a single process");
  }
  const coordinator = await openCoordinator(config, "doctor", createLog("silent"));
  try {
    const fault = await coordinator.check();
    return fault === null ? ok("redis", "answers") : failed("redis", fault, REDIS_REMEDY);
  } finally {
    await coordinator.close();
  }
}

import { type NamedProject, projectNamed } from "../auth/project-reference.ts";
import type { Sql } from "../db/client.ts";
import { hasCluster } from "../db/embedded.ts";
import { migrate, requireSchema, schemaState } from "../db/migrate.ts";
import { databaseId, databaseName, openConfiguredDatabase } from "../db/open.ts";
import { abbreviate } from "../domain/abbreviate.ts";
import type { Config } from "../ops/config/schema.ts";
import { answers, findService } from "../ops/running-service.ts";
import { CommandError } from "./command-error.ts";
import { atEnd, onInterruption } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { notice } from "./output.ts";

/** Statements of commands may take longer than those of requests. */
const NO_TIMEOUT = 0;
const CONNECTIONS = 4;

interface DatabaseOptions {
  /** Create an embedded database if it does not exist. */
  readonly create?: boolean | undefined;
  /** The command changes the database, and prints its name. */
  readonly writes?: boolean;
  /**
   * The effect on the schema. Most commands require the schema of this version, and change no other one. With `first`,
   * a command that may be the first on a machine also fills an empty database. With `any`, the schema stays as it is.
   */
  readonly schema?: "current" | "first" | "migrate" | "any";
}

/**
 * Opens the configured database, checks its schema, runs `work` and closes it. A server may be running on
 * the same database. `applied` lists the migrations that were applied.
 */
export async function withDatabase<T>(
  io: Io,
  work: (sql: Sql, applied: readonly string[]) => Promise<T>,
  { create, writes, schema = "current" }: DatabaseOptions = {},
): Promise<T> {
  const config = configOf(io);
  if (create !== true) requireDatabase(config);
  const opening = openConfiguredDatabase(config, (line) => notice(io, line), {
    connections: CONNECTIONS,
    applicationName: "tessera-cli",
    statementTimeoutMs: NO_TIMEOUT,
  });
  const forget = atEnd(io, async () => (await opening).close());
  const removeHandlers = onInterruption(io);
  const database = await opening;
  try {
    const applied = await prepareSchema(io, database.sql, schema);
    if (schema !== "any") await compareWithService(io, config, database.sql);
    const result = await work(database.sql, applied);
    if (writes) notice(io, `wrote to ${databaseName(config)}`);
    return result;
  } finally {
    removeHandlers();
    forget();
    await database.close();
  }
}

/** The same for a command that changes the database. */
export function changeDatabase<T>(io: Io, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withDatabase(io, work, { writes: true });
}

export type Project = NamedProject;

/** The project that a reference names. Throws a CommandError for an unknown one. */
export async function findProject(sql: Sql, reference: string): Promise<Project> {
  const project = await projectNamed(sql, reference);
  if (project !== undefined) return project;
  throw new CommandError(`there is no project "${abbreviate(reference)}"`);
}

/** Returns the names of the migrations that were applied. Throws a DatabaseRefusal for another schema. */
async function prepareSchema(
  io: Io,
  sql: Sql,
  wanted: NonNullable<DatabaseOptions["schema"]>,
): Promise<readonly string[]> {
  if (wanted === "any") return [];
  const isEmpty = wanted === "first" && (await schemaState(sql)).version === null;
  if (wanted === "migrate" || isEmpty) return await migrate(sql, (said) => notice(io, said));
  await requireSchema(sql);
  return [];
}

/** A new database would be a second one next to that of the service. */
function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || hasCluster(dataDir)) return;
  throw new CommandError(
    `there is no database in ${dataDir}: start the service, or give this command its DATA_DIR or ` +
      "DATABASE_URL; `./tessera migrate --create` creates a database",
  );
}

/**
 * A command without the service's DATABASE_URL would use another database than the service. Throws a CommandError in
 * this case, and prints a notice if the user has named the other database.
 */
async function compareWithService(io: Io, config: Config, sql: Sql): Promise<void> {
  const service = findService(config.dataDir);
  if (service === undefined || service.databaseId === (await databaseId(sql))) return;
  if (!(await answers(service))) return;
  const uses = `the service at ${service.url} uses ${service.database}`;
  if (config.databaseUrl !== undefined) notice(io, uses);
  else throw new CommandError(`${uses}: give this command the same DATABASE_URL`);
}

import { ConfigError } from "./config/load.ts";
import { EmbeddedDatabaseError } from "./db/embedded.ts";
import { explainDatabase } from "./db/errors.ts";
import { NewerSchemaError } from "./db/migrate.ts";
import { ListenError } from "./http/listen.ts";
import { Problem } from "./problem/problem.ts";
import { ServiceRunsError } from "./shared/service-claim.ts";

/** The message that a terminal shows for a failure: with the remedy where one is known. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof ListenError) return error.message;
  if (error instanceof ServiceRunsError) return error.message;
  if (error instanceof NewerSchemaError || error instanceof EmbeddedDatabaseError)
    return error.message;
  if (error instanceof Problem) return error.message;
  const database = explainDatabase(error);
  if (database !== undefined) return database;
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}

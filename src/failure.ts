import { CoordinationRefusal } from "./db/coordination/coordinator.ts";
import { EmbeddedDatabaseError } from "./db/embedded.ts";
import { explainDatabase } from "./db/errors.ts";
import { DatabaseRefusal } from "./db/session/session.ts";
import { Problem } from "./domain/problem/problem.ts";
import { ListenError } from "./http/listen.ts";
import { ConfigError } from "./ops/config/load.ts";
import { ServiceRunsError } from "./ops/service-claim.ts";

const EXPLAINED = [
  ConfigError,
  CoordinationRefusal,
  ListenError,
  ServiceRunsError,
  DatabaseRefusal,
  EmbeddedDatabaseError,
];

/** The message that a terminal shows for a failure: one line, with the remedy where one is known. */
export function explain(error: unknown): string {
  if (EXPLAINED.some((kind) => error instanceof kind)) return (error as Error).message;
  const database = explainDatabase(error);
  if (database !== undefined) return database;
  if (error instanceof Problem) return error.message;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `unexpected failure, ${message.trim().replace(/\s*\n\s*/g, " ")}`;
}

/** Where a failure came from, which is of use only to those who look for its cause in the code. */
export function traceOf(error: unknown, logLevel: string | undefined): string {
  const wanted = logLevel === "debug" || logLevel === "trace";
  return wanted && error instanceof Error && error.stack !== undefined ? `${error.stack}\n` : "";
}

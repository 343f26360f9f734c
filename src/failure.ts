import { ConfigError } from "./config/load.ts";
import { EmbeddedDatabaseError } from "./db/embedded.ts";
import { isUnavailable } from "./db/errors.ts";
import { ListenError } from "./http/listen.ts";

/** What a person at a terminal is told about a failure: the remedy where one is known. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof ListenError) return error.message;
  if (error instanceof EmbeddedDatabaseError) return error.message;
  if (isUnavailable(error)) {
    return "the database does not answer: check that PostgreSQL runs and that DATABASE_URL names it";
  }
  if (error instanceof Error) return error.stack ?? error.message;
  return String(error);
}

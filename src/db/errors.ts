import type { Slug } from "../domain/problem/catalogue.ts";
import { invalid, Problem } from "../domain/problem/problem.ts";

/** SQLSTATE classes and codes of a server that is unavailable or shutting down. */
const UNAVAILABLE_STATES = /^(08|57P0[1-5]|25P03)/;
const UNAVAILABLE_CODES = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "CONNECTION_CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ERR_SOCKET_CLOSED",
  // See outage/outage-guard.ts.
  "NO_ANSWER",
  "NEVER_SENT",
]);
/** The shortage of a server that refuses a statement, for callers and with its remedy for operators. */
const SHORTAGES: Readonly<Record<string, { detail: string; remedy: string }>> = {
  "25006": {
    detail: "The database accepts no changes at present.",
    remedy: "the database is read-only, as a standby is: let DATABASE_URL name the primary server",
  },
  "53100": {
    detail: "The database has no disk space left.",
    remedy: "the disk of the database is full: free some space and repeat the command",
  },
  "53200": {
    detail: "The database is out of memory.",
    remedy: "the database is out of memory: give it more memory, or lower its work_mem",
  },
  "53300": {
    detail: "The database has no connection left.",
    remedy: "the database has no connection left: raise its max_connections, or stop other clients",
  },
};
const OTHER_SHORTAGE = {
  detail: "The database lacks resources.",
  remedy: "the database lacks resources: its own log names them",
} as const;
const STATEMENT_TIMEOUT = "57014";
/** A trigger raises it, see `number_changes` in the schema. */
const LIMIT_EXCEEDED = "54000";
/** Raised by `charge` and `check_owner` in the schema. Its message is meant for the caller. */
const QUOTA_EXCEEDED = "TQ001";
/** Raised by a trigger when a project is given another embedder than that of its chunks. */
const EMBEDDER_MISMATCH = "TE001";
/** Text that PostgreSQL cannot store: a NUL character or half of a surrogate pair. */
const UNSTORABLE_TEXT_STATES = new Set(["22021", "22P05"]);
const RETRYABLE_STATES = new Set(["40001", "40P01"]);

/** SQLSTATE codes of a damaged or altered schema: an unknown table, column or function. */
const OTHER_SCHEMA_STATES = new Set(["42P01", "42703", "42883", "42704", "3F000", "42P10"]);
/** The message of a pooler that knows only some parameters of sessions. */
const PARAMETER_REFUSED = /startup parameter/i;

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

/** The message for a person when `isUnavailable`. */
const UNAVAILABLE_MESSAGE =
  "the database does not answer: check that PostgreSQL runs and that DATABASE_URL names it";

/** The shortage of the database that kept this statement from having an effect; undefined for other errors. */
function resourceShortage(error: unknown): { detail: string; remedy: string } | undefined {
  const code = sqlState(error);
  if (code === undefined) return undefined;
  return SHORTAGES[code] ?? (/^53[0-9A-Z]{3}$/.test(code) ? OTHER_SHORTAGE : undefined);
}

/** True when a pooler does not let a session start, which waiting does not mend. */
function isParameterRefused(error: unknown): boolean {
  return sqlState(error) === "08P01" && PARAMETER_REFUSED.test((error as Error).message);
}

/** A server that panics ends all connections. Whether a commit took effect is unknown then. */
function isPanic(error: unknown): boolean {
  return (error as { severity?: unknown } | null)?.severity === "PANIC";
}

/** True when cached results may be used, because the database does not answer queries at all. */
export function isOutage(error: unknown): boolean {
  return isUnavailable(error) || resourceShortage(error) !== undefined;
}

/** The message for a person about a database that does not work; undefined for other errors. */
export function explainDatabase(error: unknown): string | undefined {
  const state = sqlState(error);
  if (state === QUOTA_EXCEEDED) return (error as Error).message;
  if (isParameterRefused(error)) {
    return (
      `a pooler before the database refuses the settings of sessions (${(error as Error).message}): connect to ` +
      "PostgreSQL itself, or let the pooler ignore these parameters (docs/operations.md#connections)"
    );
  }
  if (state !== undefined && OTHER_SCHEMA_STATES.has(state)) {
    return (
      `the database lacks something that its schema has (${(error as Error).message}): restore a backup, or ` +
      "let DATABASE_URL name another database"
    );
  }
  return (
    resourceShortage(error)?.remedy ?? (isUnavailable(error) ? UNAVAILABLE_MESSAGE : undefined)
  );
}

/** True when the database could not be reached, did not answer or closed the connection. */
export function isUnavailable(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined) return false;
  if (isPanic(error)) return true;
  if (isParameterRefused(error)) return false;
  return UNAVAILABLE_CODES.has(code) || (code.length === 5 && UNAVAILABLE_STATES.test(code));
}

/** Failures to connect. */
const CONNECT_FAILURES = new Set([
  "CONNECT_TIMEOUT",
  "CONNECTION_CONNECT_TIMEOUT",
  "CONNECTION_ENDED",
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "NEVER_SENT",
  // The server refuses new connections while it starts or all of its connections are in use.
  "57P03",
  "53300",
]);

/** True when the statement certainly did not reach the server and so had no effect. */
export function neverRan(error: unknown): boolean {
  return CONNECT_FAILURES.has(sqlState(error) ?? "");
}

/** True when a lock was not available in time; the transaction has been rolled back. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === "55P03";
}

/** True when the same transaction may succeed if it runs again. */
export function isRetryable(error: unknown): boolean {
  const code = sqlState(error);
  return code !== undefined && RETRYABLE_STATES.has(code);
}

/** The name of the violated unique constraint; undefined for any other error. */
export function uniqueViolation(error: unknown): string | undefined {
  if (sqlState(error) !== "23505") return undefined;
  return (error as { constraint_name?: string }).constraint_name ?? "";
}

/** True when another transaction has stored the same row first, or has deleted a row that this one refers to. */
export function isConflict(error: unknown): boolean {
  return ["23505", "23503"].includes(sqlState(error) ?? "");
}

/** True when a project is given another embedder than that of its chunks. */
export function isEmbedderMismatch(error: unknown): boolean {
  return sqlState(error) === EMBEDDER_MISMATCH;
}

/** The problem for a database failure; undefined for any other error. */
export function databaseProblem(error: unknown): Problem | undefined {
  const shortage = isPanic(error) ? undefined : resourceShortage(error);
  if (shortage !== undefined) {
    return new Problem("dependency-unavailable", { detail: shortage.detail, cause: error });
  }
  if (isUnavailable(error)) {
    return new Problem("dependency-unavailable", {
      detail: "The database does not answer.",
      cause: error,
    });
  }
  if (sqlState(error) === QUOTA_EXCEEDED) {
    return new Problem("quota-exceeded", { detail: (error as Error).message });
  }
  if (isEmbedderMismatch(error)) {
    const remedy =
      "A change with `rebuild`, as `tessera embeddings rebuild` makes, embeds them by another one.";
    return new Problem("embedder-mismatch", { detail: `${(error as Error).message} ${remedy}` });
  }
  if (UNSTORABLE_TEXT_STATES.has(sqlState(error) ?? "")) {
    const message = "contains a character that cannot be stored, such as NUL";
    return invalid([{ field: "body", message }]);
  }
  if (sqlState(error) === LIMIT_EXCEEDED) {
    return invalid([
      { field: "body", message: "would change too many environments and releases at once" },
    ]);
  }
  if (sqlState(error) === STATEMENT_TIMEOUT || isLockTimeout(error) || isRetryable(error)) {
    return new Problem("overloaded", { cause: error });
  }
  return undefined;
}

/** For `catch`: throws this problem in place of the violation of a unique constraint, and other errors as they are. */
export function taken(constraint: string, slug: Slug): (error: unknown) => never {
  return (error) => {
    throw uniqueViolation(error) === constraint ? new Problem(slug, { cause: error }) : error;
  };
}

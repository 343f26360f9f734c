import { invalid, Problem } from "../problem/problem.ts";

/** SQLSTATE classes and codes of a server that is unavailable or shutting down. */
const UNAVAILABLE_STATES = /^(08|57P0[1-5]|53[0-9A-Z]{3}|25P03)/;
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
]);
const STATEMENT_TIMEOUT = "57014";
/** Text that PostgreSQL cannot store: a NUL character or half of a surrogate pair. */
const UNSTORABLE_TEXT_STATES = new Set(["22021", "22P05"]);
const RETRYABLE_STATES = new Set(["40001", "40P01"]);

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

/** The message for a person when `isUnavailable`. */
export const UNAVAILABLE_MESSAGE =
  "the database does not answer: check that PostgreSQL runs and that DATABASE_URL names it";

/** True when the database could not be reached or closed the connection. */
export function isUnavailable(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined) return false;
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
  // The server refuses new connections while it starts or has none left.
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

/** The problem for a database failure; undefined for any other error. */
export function databaseProblem(error: unknown): Problem | undefined {
  if (isUnavailable(error)) {
    return new Problem("dependency-unavailable", {
      detail: "The database does not answer.",
      cause: error,
    });
  }
  if (UNSTORABLE_TEXT_STATES.has(sqlState(error) ?? "")) {
    const message = "contains a character that cannot be stored, such as NUL";
    return invalid([{ field: "body", message }]);
  }
  if (sqlState(error) === STATEMENT_TIMEOUT || isLockTimeout(error) || isRetryable(error)) {
    return new Problem("overloaded", { cause: error });
  }
  return undefined;
}

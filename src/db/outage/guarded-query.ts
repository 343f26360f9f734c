import type postgres from "postgres";
import { NoAnswer, type OutageGuard } from "./outage-guard.ts";

/** The parts of the driver's query that it sets and calls while it runs. */
export interface DriverQuery {
  strings: readonly string[];
  args: readonly unknown[];
  /** The connection that has sent it; null before. */
  state: unknown;
  active: boolean;
  executed: boolean;
  readonly cursorRows?: number;
  /** Sends the query. Called once, when the query is awaited. */
  handler: (query: DriverQuery) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  cancel(): unknown;
  cursor(rows?: number | Consumer, consume?: Consumer): unknown;
}

type Consumer = (rows: unknown) => unknown;

const NOOP_QUERY = Object.assign(["SELECT 1"], { raw: ["SELECT 1"] });

/** True for a query, false for the helpers that the same function makes, such as identifiers. */
export function isQuery(made: unknown): made is DriverQuery {
  return typeof made === "object" && made !== null && "handler" in made && "reject" in made;
}

/**
 * Calls `start` when the query is handed to the driver. If `start` returns a function, it is called when the query is
 * answered. If it returns an error, the query is not sent and fails with this error.
 */
export function aroundQuery(
  query: DriverQuery,
  start: () => ((error?: unknown) => void) | Error,
): void {
  const send = query.handler;
  query.handler = (same) => {
    const end = start();
    const { resolve, reject } = query;
    if (end instanceof Error) return reject(end);
    query.resolve = (value) => {
      end();
      resolve(value);
    };
    query.reject = (error) => {
      end(error);
      reject(error);
    };
    return send(same);
  };
}

/** Watches the query from the moment that it is handed to the driver. */
export function guardQuery(
  guard: OutageGuard,
  query: DriverQuery,
  deadlineOf: (query: DriverQuery) => number,
): void {
  aroundQuery(query, () => {
    if (guard.isDown) return new NoAnswer("NEVER_SENT");
    return query.cursorRows === undefined ? watchQuery(guard, query, deadlineOf(query)) : () => {};
  });
  query.cursor = guardedCursor(guard, query, deadlineOf);
}

function watchQuery(guard: OutageGuard, query: DriverQuery, deadlineMs: number): () => void {
  const { reject } = query;
  let wasSent = false;
  return guard.watch({
    deadlineMs,
    fail() {
      const { active } = query;
      wasSent = query.state !== null;
      reject(failureOf(query));
      // The driver still waits for the answer, and cancels only active queries.
      query.active = active;
    },
    // The driver never again uses a connection that it is opening for a cancelled statement.
    cancel: () => void (wasSent && query.cancel()),
  });
}

/** The error for the caller. A query that was not sent by now must not take effect later. */
function failureOf(query: DriverQuery): NoAnswer {
  if (query.state !== null) return new NoAnswer("NO_ANSWER");
  query.strings = NOOP_QUERY;
  query.args = [];
  return new NoAnswer("NEVER_SENT");
}

/**
 * A cursor waits for its consumer as well, so each batch has a deadline of its own. The driver's
 * iterator ends as if all rows had been read when the connection breaks between two batches; this one
 * throws the error.
 */
function guardedCursor(
  guard: OutageGuard,
  query: DriverQuery,
  deadlineOf: (query: DriverQuery) => number,
): DriverQuery["cursor"] {
  const { cursor } = query;
  return (rows, consume) => {
    const made = cursor.call(query, rows, consume);
    if (made === query) return made;
    const batches = (made as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    let failure: { readonly error: unknown } | undefined;
    const next = async () => {
      // At the end the driver returns no promise.
      const batch = Promise.resolve(batches.next());
      const { reject } = query;
      query.reject = (error) => {
        failure ??= { error };
        reject(error);
      };
      const fail = () => query.reject(failureOf(query));
      const over = guard.watch({ deadlineMs: deadlineOf(query), fail });
      const result = await batch.finally(() => {
        // After a deadline the guard closes the connection.
        if (failure === undefined) over();
      });
      if (result.done && failure !== undefined) throw failure.error;
      return result;
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: () => batches.return?.() }) };
  };
}

/** The same pool, transaction or connection, which hands every query that it makes to `watch`. */
export function withEachQuery<T extends postgres.Sql<Record<string, never>>>(
  base: T,
  watch: (query: DriverQuery) => void,
): T {
  const watched = <Made>(made: Made): Made => {
    if (isQuery(made)) watch(made);
    return made;
  };
  const make = base as unknown as (...args: unknown[]) => unknown;
  const unsafe = base.unsafe as unknown as (...args: unknown[]) => unknown;
  return Object.assign((...args: unknown[]) => watched(make(...args)), base, {
    unsafe: (...args: unknown[]) => watched(unsafe(...args)),
  }) as unknown as T;
}

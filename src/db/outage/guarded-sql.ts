import type postgres from "postgres";
import {
  DB_READ_DEADLINE_MS,
  DB_TRANSACTION_DEADLINE_MS,
  DB_WRITE_DEADLINE_MS,
} from "../../domain/limits.ts";
import { type DriverQuery, guardQuery, withEachQuery } from "./guarded-query.ts";
import { NoAnswer, type OutageGuard } from "./outage-guard.ts";

type Base = postgres.Sql<Record<string, never>>;

/** Maximum waits of callers for each kind of statement, in milliseconds. */
interface Deadlines {
  readonly readMs: number;
  readonly writeMs: number;
  readonly transactionMs: number;
}

export const REQUEST_DEADLINES: Deadlines = {
  readMs: DB_READ_DEADLINE_MS,
  writeMs: DB_WRITE_DEADLINE_MS,
  transactionMs: DB_TRANSACTION_DEADLINE_MS,
};

/** Deadlines of work without a waiting client: the server's own timeout comes first. */
export const BACKGROUND_DEADLINES: Deadlines = {
  ...REQUEST_DEADLINES,
  readMs: DB_WRITE_DEADLINE_MS,
};

/** For work of unbounded size. Only an outage ends it. */
export const NO_DEADLINES: Deadlines = {
  readMs: Number.POSITIVE_INFINITY,
  writeMs: Number.POSITIVE_INFINITY,
  transactionMs: Number.POSITIVE_INFINITY,
};

const READING = /^\s*(?:SELECT|WITH|SHOW)\b/i;
const writes = new WeakSet<object>();
const patient = new WeakMap<object, Base>();

/** Gives a SELECT that calls a writing function the deadline of a write. */
export function withWriteDeadline<Q extends object>(query: Q): Q {
  writes.add(query);
  return query;
}

/** The same pool without deadlines. Only an outage ends its statements. */
export function withoutDeadlines<T extends object>(sql: T): T {
  return (patient.get(sql) as T | undefined) ?? sql;
}

/**
 * Guards all statements of a pool. `decorate` is applied to the guarded pool, and to the one without
 * deadlines.
 */
export function guardPool(
  base: Base,
  guard: OutageGuard,
  deadlines: Deadlines,
  decorate: (pool: Base) => Base = (pool) => pool,
): Base {
  const guarded = guardStatements(base, guard, deadlines);
  const begin = (...args: unknown[]) => {
    const work = args.pop() as (tx: unknown) => unknown;
    return guardWork(guard, deadlines.transactionMs, (check) =>
      base.begin(args.length === 0 ? "" : String(args[0]), (tx) => {
        check();
        return work(tx);
      }),
    );
  };
  const reserve = async () => {
    const reserved = await guardWork(guard, Number.POSITIVE_INFINITY, async (check) => {
      const connection = await base.reserve();
      try {
        check();
      } catch (error) {
        connection.release();
        throw error;
      }
      return connection;
    });
    return guardStatements(reserved, guard, NO_DEADLINES);
  };
  const end = (options?: { timeout?: number }) => {
    guard.close();
    return base.end(options);
  };
  const pool = decorate(Object.assign(guarded, { begin, reserve, end }) as unknown as Base);
  if (deadlines !== NO_DEADLINES) patient.set(pool, guardPool(base, guard, NO_DEADLINES, decorate));
  return pool;
}

/** Guards the statements of a pool or of one of its reserved connections. */
function guardStatements<T extends Base>(base: T, guard: OutageGuard, deadlines: Deadlines): T {
  const deadlineOf = (query: DriverQuery) => {
    const isRead = READING.test(query.strings[0] ?? "") && !writes.has(query);
    return isRead ? deadlines.readMs : deadlines.writeMs;
  };
  return withEachQuery(base, (query) => guardQuery(guard, query, deadlineOf));
}

/**
 * Runs work that has several statements. `check` throws once the work has failed for the caller, so that it does not
 * begin after that.
 */
function guardWork<T>(
  guard: OutageGuard,
  deadlineMs: number,
  start: (check: () => void) => Promise<T>,
): Promise<T> {
  if (guard.isDown) return Promise.reject(new NoAnswer("NEVER_SENT"));
  return new Promise((resolve, reject) => {
    let isStarted = false;
    let failure: NoAnswer | undefined;
    const over = guard.watch({
      deadlineMs,
      fail() {
        failure = isStarted ? new NoAnswer("NO_ANSWER") : new NoAnswer("NEVER_SENT");
        reject(failure);
      },
    });
    const check = () => {
      if (failure !== undefined) throw failure;
      isStarted = true;
    };
    start(check).finally(over).then(resolve, reject);
  });
}

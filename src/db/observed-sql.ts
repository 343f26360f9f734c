import type postgres from "postgres";
import type { CallObserver } from "../observability/calls.ts";
import { withEachQuery } from "./outage/each-query.ts";
import { aroundQuery, type DriverQuery } from "./outage/guarded-query.ts";

/** Spans name statements up to this length. */
const TRACE_STATEMENT_MAX_CHARS = 500;

type Base = postgres.Sql<Record<string, never>>;

/** The statements with metrics of their own. The service sends no others while it answers requests. */
const OPERATIONS = new Set(["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"]);
const FIRST_WORD = /^\s*([A-Za-z]+)/;

function operationOf({ strings }: DriverQuery): string {
  const word = FIRST_WORD.exec(strings[0] ?? "")?.[1]?.toUpperCase() ?? "";
  return OPERATIONS.has(word) ? word : "OTHER";
}

/** The statement with placeholders for its values. */
function textOf({ strings }: DriverQuery): string {
  return strings.join("?").replace(/\s+/g, " ").trim().slice(0, TRACE_STATEMENT_MAX_CHARS);
}

/** The same pool, transaction or connection with all its statements observed. */
function observeStatements<T extends Base>(base: T, observer: CallObserver): T {
  return withEachQuery(base, (query) =>
    aroundQuery(query, () => observer.start(operationOf(query), () => textOf(query))),
  );
}

/**
 * Observes all statements of a pool and its transactions. A transaction counts as an operation of its
 * own, from waiting for a connection to the commit.
 */
export function observePool(base: Base, observer: CallObserver): Base {
  const begin = (...args: unknown[]) => {
    const work = args.pop() as (tx: unknown) => unknown;
    const inside = (tx: Base) => work(observeStatements(tx, observer));
    const run = base.begin as unknown as (...all: unknown[]) => Promise<unknown>;
    return observer.around("TRANSACTION", () => run(...args, inside));
  };
  return Object.assign(observeStatements(base, observer), { begin }) as unknown as Base;
}

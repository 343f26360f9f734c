import type postgres from "postgres";
import { type DriverQuery, isQuery } from "./guarded-query.ts";

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

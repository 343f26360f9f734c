import { timestamp } from "./formats.ts";

/** The names of members that are times. */
type TimeName = `${string}_at` | "at" | "since";

/** The row of a value that the API shows: optional members are nullable, and times are dates. */
export type RowOf<T, Time = Date> = {
  [K in keyof T]-?:
    | (K extends TimeName ? Time : NonNullable<T[K]>)
    | (object extends Pick<T, K> ? null : null extends T[K] ? null : never);
};

/** A row with its times as text. */
type WithTimes<T> = { [K in keyof T]: Exclude<T[K], Date> | (Date extends T[K] ? string : never) };

/** A copy with times as RFC 3339 in UTC. */
export function withTimes<T extends object>(row: T): WithTimes<T> {
  const members = Object.entries(row).map(([name, member]) => {
    return [name, member instanceof Date ? timestamp(member) : member];
  });
  return Object.fromEntries(members) as WithTimes<T>;
}

/** An object without its null members, because the API omits absent optional fields. */
type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** A copy without the members that are null. */
export function omitNulls<T extends object>(value: T): WithoutNulls<T> {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members) as WithoutNulls<T>;
}

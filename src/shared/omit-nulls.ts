/** An object without its null members, because the API omits absent optional fields. */
type WithoutNulls<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: NonNullable<T[K]>;
};

/** A copy without the members that are null. */
export function omitNulls<T extends object>(value: T): WithoutNulls<T> {
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) copy[name] = member;
  }
  return copy as WithoutNulls<T>;
}

import { parseArgs } from "node:util";

type Value = number | string | boolean;

type Options<T> = {
  [Name in keyof T]: T[Name] extends number ? number : T[Name] extends string ? string : boolean;
};

/**
 * Reads `--name value` arguments from the command line. The defaults name the options and give
 * their types: numbers, strings, and flags that `--name` sets and `--no-name` clears.
 */
export function readOptions<const T extends Record<string, Value>>(defaults: T): Options<T> {
  const { values } = parseArgs({
    options: Object.fromEntries(
      Object.entries(defaults).map(([name, value]) => {
        return [name, { type: typeof value === "boolean" ? "boolean" : "string" }] as const;
      }),
    ),
    allowNegative: true,
  });
  const read = (name: string, fallback: Value): Value => {
    const given = values[name];
    if (given === undefined) return fallback;
    if (typeof fallback !== "number") return given as Value;
    const number = Number(given);
    if (Number.isNaN(number)) throw new Error(`--${name} needs a number, not "${given}"`);
    return number;
  };
  const entries = Object.entries(defaults).map(([name, value]) => [name, read(name, value)]);
  return Object.fromEntries(entries) as Options<T>;
}

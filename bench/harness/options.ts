import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { callerDirectory } from "../../src/ops/config/caller.ts";

type Value = number | string | boolean;
export type Values = Readonly<Record<string, Value>>;

/** Exit status of wrong usage. */
const WRONG_USAGE = 2;

/** What the first comment of a benchmark says about it and its options. */
export function helpText(path: string): string {
  const [, comment = ""] = /^\/\*\*\n(.*?)\n \*\//s.exec(readFileSync(path, "utf8")) ?? [];
  return `${comment.replace(/^ \* ?/gm, "")}\n`;
}

/**
 * Reads the `--name value` arguments of the command line. The defaults name the options and give
 * their types: numbers, strings, and flags that `--name` sets and `--no-name` clears. `--help` prints
 * the first comment of the benchmark; wrong options end the process with a message and that comment.
 */
export function readOptions<T extends Values>(defaults: T): T {
  if (Bun.argv.includes("--help")) {
    process.stdout.write(helpText(Bun.main));
    process.exit(0);
  }
  process.chdir(callerDirectory());
  try {
    return parseOptions(defaults, Bun.argv.slice(2));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`tessera: ${message}\n\n${helpText(Bun.main)}`);
    process.exit(WRONG_USAGE);
  }
}

/** The options with the values that the arguments give; throws an error that names the wrong one. */
export function parseOptions<T extends Values>(defaults: T, args: readonly string[]): T {
  const { values } = parseArgs({
    args: [...args],
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
  return Object.fromEntries(entries) as T;
}

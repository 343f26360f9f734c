import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { callerDirectory } from "../../src/config/caller.ts";

type Value = number | string | boolean;

type Options<T> = {
  [Name in keyof T]: T[Name] extends number ? number : T[Name] extends string ? string : boolean;
};

/** Exit status of wrong usage. */
const WRONG_USAGE = 2;

/** What the first comment of the benchmark says about it and its options. */
function helpText(): string {
  const [, comment = ""] = /^\/\*\*\n(.*?)\n \*\//s.exec(readFileSync(Bun.main, "utf8")) ?? [];
  return `${comment.replace(/^ \* ?/gm, "")}\n`;
}

/** Ends the process with a message, instead of a stack, when the options are wrong. */
function orExplain<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`tessera: ${message}\n\n${helpText()}`);
    process.exit(WRONG_USAGE);
  }
}

/**
 * Reads `--name value` arguments from the command line. The defaults name the options and give
 * their types: numbers, strings, and flags that `--name` sets and `--no-name` clears. `--help` prints
 * the first comment of the benchmark.
 */
export function readOptions<const T extends Record<string, Value>>(defaults: T): Options<T> {
  if (Bun.argv.includes("--help")) {
    process.stdout.write(helpText());
    process.exit(0);
  }
  process.chdir(callerDirectory());
  return orExplain(() => parse(defaults));
}

function parse<const T extends Record<string, Value>>(defaults: T): Options<T> {
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

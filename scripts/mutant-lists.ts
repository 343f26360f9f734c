import { existsSync, readFileSync } from "node:fs";
import { Glob } from "bun";

const LISTS = "test/mutants/*.json";

export interface Mutant {
  readonly file: string;
  /** Text that the file contains once. */
  readonly find: string;
  readonly replace: string;
  /** The test files that have to notice, as few as do. */
  readonly tests: readonly string[];
  /** The consequence for users. */
  readonly why: string;
}

/** The reason why an entry of the lists no longer describes a mutant. */
function faultOf({ file, find, replace, tests }: Mutant): string | undefined {
  const missing = [file, ...tests].find((path) => !existsSync(path));
  if (missing !== undefined) return `${missing} does not exist`;
  const times = readFileSync(file, "utf8").split(find).length - 1;
  if (times !== 1) return `${JSON.stringify(find)} is in ${file} ${times} times instead of once`;
  return find === replace || tests.length === 0 ? `${file}: nothing to break or to run` : undefined;
}

/** Reads the mutants of all lists. Throws for one that does not match its file, or whose tests do not exist. */
export function readMutants(): Mutant[] {
  const lists = [...new Glob(LISTS).scanSync(".")].sort();
  const mutants = lists.flatMap((list) => JSON.parse(readFileSync(list, "utf8")) as Mutant[]);
  const faults = mutants.flatMap((mutant) => faultOf(mutant) ?? []);
  if (faults.length > 0) throw new Error(`the lists are stale:\n  ${faults.join("\n  ")}`);
  return mutants;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** A block of a page, between lines of three backticks. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Why its commands are not run, as an invisible comment before the block says: `<!-- not run: ... -->`. */
  readonly notRun: string | undefined;
}

const BLOCK = /(?:^<!-- not run: (.+) -->\n+)?^```(sh|text|json|js)\n([\s\S]*?)^```$/gm;

/** The blocks of a page in order, without other languages than those of commands and of what they print. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(PROJECT_ROOT, page), "utf8");
  return [...text.matchAll(BLOCK)].map(([, notRun, language = "", body = ""]) => {
    return { language, text: body, notRun };
  });
}

/** Replaces what differs from run to run: keys, ids, dates, durations and rates, and the width of columns. */
function comparable(line: string): string {
  return line
    .replace(/tsr_\w+/g, "KEY")
    .replace(/\b[\da-f]{8}-[\da-f-]{27}\b/g, "ID")
    .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, "DATE")
    .replace(/\b\d+(\.\d+)? (ms|s|min)\b/g, "DURATION")
    .replace(/\b\d+ (records)\/s/g, "RATE")
    .replace(/ {2,}/g, "  ")
    .trimEnd();
}

/** The first line of an example that the output lacks, in order. A line may end with `...`, or be that alone. */
export function missingLine(output: string, example: string): string | undefined {
  let rest = output.split("\n").map(comparable);
  for (const line of example.split("\n").filter((each) => !/^\s*(\.\.\.)?$/.test(each))) {
    const wanted = comparable(line);
    const start = wanted.endsWith("...") ? wanted.slice(0, -3).trimEnd() : undefined;
    const at = rest.findIndex((each) => {
      return start === undefined ? each === wanted : each.startsWith(start);
    });
    if (at < 0) return line;
    rest = rest.slice(at + 1);
  }
  return undefined;
}

/** Members whose values no two runs share: durations, and the opaque places in lists. */
const VARYING: ReadonlySet<string> = new Set(["search_time_ms", "next", "key", "key_prefix"]);

/** The value as a page shows it: `...` leaves out members and items. */
function exampleOf(text: string): unknown {
  return JSON.parse(text.replace(/,\s*\.\.\.(?=\s*[,}\]])/g, ""));
}

/** A number to as many decimals as the example has, because processors differ in the last ones. */
function sameNumber(value: number, example: number): boolean {
  const decimals = /\.(\d+)/.exec(`${example}`)?.[1]?.length ?? 0;
  return Math.abs(value - example) <= 0.5 * 10 ** -decimals + Number.EPSILON;
}

function difference(
  value: unknown,
  example: unknown,
  isWhole: boolean,
  place: string,
): string | undefined {
  const fault = `${place} is ${JSON.stringify(value)}, and not ${JSON.stringify(example)}`;
  if (typeof example === "number") {
    return typeof value === "number" && sameNumber(value, example) ? undefined : fault;
  }
  if (typeof example === "string") {
    return typeof value === "string" && comparable(value) === comparable(example)
      ? undefined
      : fault;
  }
  if (typeof example !== "object" || example === null) {
    return value === example ? undefined : fault;
  }
  if (typeof value !== "object" || value === null) return fault;
  const shown = Object.keys(example);
  const missing = shown.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return `${place} has no ${missing}`;
  const further = Object.keys(value).find((name) => !shown.includes(name));
  if (isWhole && further !== undefined) return `${place} has ${further} as well`;
  for (const name of shown) {
    const of = (of: object) => (of as Record<string, unknown>)[name];
    const [own, wanted] = [of(value), of(example)];
    if (VARYING.has(name) && typeof own === typeof wanted) continue;
    const found = difference(own, wanted, isWhole, `${place}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What of an answer in JSON differs from an example, which shows a part of it if it has `...`. */
export function jsonDifference(answer: string, example: string): string | undefined {
  const isWhole = !example.includes("...");
  return difference(JSON.parse(answer), exampleOf(example), isWhole, "the answer");
}

import { parseJson } from "../shared/json/parse.ts";
import { FRONTMATTER_MAX_ENTRIES } from "../shared/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import type { Plain } from "./plain-yaml.ts";

/** Maps and lists in each other. */
const JSON_MAX_DEPTH = 16;

/** Reads a block of JSON. Null if it is not a map. Throws a FrontmatterError. */
export function parseJsonBlock(source: string): [key: string, value: Plain][] | null {
  let value: unknown;
  try {
    value = parseJson(source);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new FrontmatterError("is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(value) as [string, Plain][];
  if (entries.length > FRONTMATTER_MAX_ENTRIES) {
    throw new FrontmatterError(`has more than ${FRONTMATTER_MAX_ENTRIES} keys`);
  }
  if (depthOf(value) > JSON_MAX_DEPTH) throw new FrontmatterError("is nested too deeply");
  return entries;
}

/** The map itself counts as 0. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return -1;
  return 1 + Math.max(-1, ...Object.values(value).map(depthOf));
}

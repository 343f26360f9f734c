import { parse, TomlDate, TomlError } from "smol-toml";
import { numberOf } from "../../domain/json/parse.ts";
import { FRONTMATTER_MAX_ENTRIES } from "../../domain/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import type { Plain } from "./plain-yaml.ts";

/** Tables and arrays in each other. */
const TOML_MAX_DEPTH = 16;

/** Reads a block of TOML. Throws a FrontmatterError. */
export function parseToml(source: string): [key: string, value: Plain][] {
  let table: Record<string, unknown>;
  try {
    table = parse(source, { maxDepth: TOML_MAX_DEPTH, integersAsBigInt: "asNeeded" });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // Plus one for the opening fence, which the parser does not see.
    throw new FrontmatterError(`is not valid TOML at line ${cause.line + 1}`);
  }
  const entries = Object.entries(table);
  if (entries.length > FRONTMATTER_MAX_ENTRIES) {
    throw new FrontmatterError(`has more than ${FRONTMATTER_MAX_ENTRIES} keys`);
  }
  return entries.map(([key, value]) => [key, plainOf(value)]);
}

/** A value as JSON can express it; dates and times are written as in TOML. */
function plainOf(value: unknown): Plain {
  if (typeof value === "bigint") return numberOf(String(value));
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object" || value === null) return value as Plain;
  // With a null prototype, a key such as __proto__ is an ordinary key.
  const table: { [key: string]: Plain } = Object.create(null);
  for (const [key, each] of Object.entries(value)) table[key] = plainOf(each);
  return table;
}

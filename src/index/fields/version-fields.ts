import { readFrontmatterValues } from "../../documents/markdown/index.ts";
import { parseJson } from "../../domain/json/parse.ts";
import type { FieldsRow } from "../versions/version-index.ts";

type Values = Readonly<Record<string, unknown>>;

/** The fields of a file version that filters can compare. */
export interface VersionFields {
  readonly id: string;
  readonly path: string;
  readonly frontmatter: Values;
  /** For each chunk by index the dimension of its embedding, or 0 without one. */
  readonly dimensions: readonly number[];
  /** The metadata of each chunk. */
  readonly metadata: readonly Values[];
}

const NO_VALUES: Values = {};

export function fieldsOf(row: FieldsRow): VersionFields {
  return {
    // Copied: a substring would keep the long text it was cut from in memory.
    id: Buffer.from(row.file_version_id).toString(),
    path: row.path,
    frontmatter: row.head === null ? NO_VALUES : readFrontmatterValues(row.head),
    dimensions: row.dimensions,
    metadata: parseJson(row.metadata) as Values[],
  };
}

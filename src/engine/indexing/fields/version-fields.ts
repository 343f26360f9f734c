import { readFrontmatterValues } from "../../../markdown/index.ts";
import type { CompiledFilter } from "../../../shared/filter/compile.ts";
import type { FieldsRow } from "../versions/version-index.ts";

/** What filters see of a file version. Values are kept as JSON texts, which take little memory. */
export interface VersionFields {
  readonly id: string;
  readonly path: string;
  /** The JSON text of an object; "" for an empty one. */
  readonly frontmatter: string;
  /** For each chunk by index the dimension of its embedding, or 0 without one. */
  readonly dimensions: Uint16Array;
  /** The JSON text of an array with the metadata of each chunk; "" if all are empty. */
  readonly metadata: string;
}

const NO_VALUES: Readonly<Record<string, unknown>> = {};
const EMPTY_METADATA = /^\[[\s{},]*\]$/;

/** Copies a text: a substring would keep the long text it was cut from in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

export function fieldsOf(row: FieldsRow): VersionFields {
  const values = row.head === null ? NO_VALUES : readFrontmatterValues(row.head);
  const frontmatter = JSON.stringify(values);
  return {
    id: copied(row.file_version_id),
    path: copied(row.path),
    frontmatter: frontmatter === "{}" ? "" : frontmatter,
    dimensions: Uint16Array.from(row.dimensions),
    metadata: EMPTY_METADATA.test(row.metadata) ? "" : copied(row.metadata),
  };
}

/** Memory of the fields of a version, in bytes; strings of JSON are mostly one byte per character. */
export function bytesOf({ path, frontmatter, dimensions, metadata }: VersionFields): number {
  return VERSION_BYTES + path.length + frontmatter.length + dimensions.byteLength + metadata.length;
}

/** The objects and the entry of a map that a version has beside its values. */
const VERSION_BYTES = 256;

/** Whether all chunks of a version match a filter, or none, or which. A file without chunks is one. */
type Matched = "all" | "none" | Uint8Array;

function parsed(json: string): Readonly<Record<string, unknown>> {
  return json === "" ? NO_VALUES : (JSON.parse(json) as Record<string, unknown>);
}

export function evaluate(filter: CompiledFilter, version: VersionFields): Matched {
  const { path } = version;
  const frontmatter = filter.usesFrontmatter ? parsed(version.frontmatter) : NO_VALUES;
  if (!filter.usesMetadata || version.metadata === "") {
    return filter.matches({ path, frontmatter, metadata: NO_VALUES }) ? "all" : "none";
  }
  const chunks = JSON.parse(version.metadata) as Record<string, unknown>[];
  const members = new Uint8Array(chunks.length);
  let count = 0;
  for (const [i, metadata] of chunks.entries()) {
    if (!filter.matches({ path, frontmatter, metadata })) continue;
    members[i] = 1;
    count++;
  }
  if (count === 0) return "none";
  return count === chunks.length ? "all" : members;
}

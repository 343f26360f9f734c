import type { Queryable } from "../../db/client.ts";
import type { MemberLists } from "../../index/fields/member-lists.ts";

/** The chunks that a filter matches, as a search names them to the database. */
export interface FilterMembers {
  readonly versionIds: readonly string[];
  /** Chunks of other versions. */
  readonly chunkIds: readonly string[];
  /** All of these chunks that have the searched dimension. */
  readonly chunks: number;
}

/** @param sql the platform's database, which has the ids of chunks */
export async function readMembers(
  sql: Queryable,
  { versionIds, partIds, positions, sizes }: MemberLists,
  dimension: number,
): Promise<FilterMembers> {
  const rows =
    partIds.length === 0
      ? []
      : await sql<{ id: string }[]>`
          SELECT c.id FROM (
            SELECT id, file_version_id,
              row_number() OVER (PARTITION BY file_version_id ORDER BY index) - 1 AS position
            FROM chunks WHERE file_version_id = ANY(${partIds as string[]}::uuid[])
          ) c JOIN unnest(${partIds as string[]}::uuid[], ${positions as number[]}::integer[])
            AS wanted (version, position)
            ON wanted.version = c.file_version_id AND wanted.position = c.position`;
  return { versionIds, chunkIds: rows.map(({ id }) => id), chunks: sizes.get(dimension) ?? 0 };
}

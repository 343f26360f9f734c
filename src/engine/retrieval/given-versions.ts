import pLimit from "p-limit";
import type { Given } from "../../../native/retrieval.ts";
import type { Queryable } from "../../db/client.ts";
import { writtenJson } from "../../db/written-json.ts";
import { renderChunk, vectorOf } from "../../indexing/versions/chunk-content.ts";
import type { ChunkRow } from "../../indexing/versions/version-index.ts";
import { readFrontmatterValues } from "../../markdown/index.ts";
import { compileFilter } from "../../shared/filter/compile.ts";
import type { Steps } from "../../shared/filter/steps.ts";
import { evaluateInTurns } from "../../shared/filter/turns.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { FRONTMATTER_MAX_CHARS } from "../../shared/limits.ts";
import type { Scope } from "../requests/scope.ts";

interface VersionRow {
  readonly version_id: string;
  readonly id: string;
  readonly path: string;
  /** The begin of the text, with its frontmatter. */
  readonly head: string | null;
  /** Whether it has neither chunks nor text to cut into some. */
  readonly is_bare: boolean;
}

type StoredChunk = Omit<ChunkRow, "dimension" | "embedding"> & {
  readonly dimension: number | null;
  readonly embedding: Uint8Array | null;
};

/** All requests of the main thread wait while a filter is evaluated, so it is for this time at once. */
const SLICE_MS = 1;
const turns = pLimit(1);

/** The chunks that belong to a scope, which may be one that a filter derives. */
async function chunksIn(
  { filter }: Scope,
  heads: ReadonlyMap<string, string | null>,
  rows: StoredChunk[],
): Promise<StoredChunk[]> {
  if (filter === undefined) return rows;
  const { matches } = compileFilter(parseJson(filter.json) as Record<string, unknown>);
  const frontmatters = new Map<string, Readonly<Record<string, unknown>>>();
  const matching: StoredChunk[] = [];
  function* evaluation(): Steps<void> {
    for (const row of rows) {
      const { file_version_id: id, file_path: path } = row;
      const frontmatter = frontmatters.get(id) ?? readFrontmatterValues(heads.get(id) ?? "");
      frontmatters.set(id, frontmatter);
      const metadata = parseJson(row.metadata) as Record<string, unknown>;
      if (yield* matches({ path, frontmatter, metadata })) matching.push(row);
    }
  }
  await evaluateInTurns(turns, evaluation(), { sliceMs: SLICE_MS });
  return matching;
}

/**
 * Reads file versions with their chunks that are in a scope, for a retrieval.
 *
 * @param sql the platform's database
 * @param versionIds versions that the scope holds
 */
export async function readGivenVersions(
  sql: Queryable,
  scope: Scope,
  versionIds: readonly string[],
): Promise<Given["versions"]> {
  const ids = versionIds as string[];
  const versions = await sql<VersionRow[]>`
    SELECT v.id AS version_id, f.id, f.path, left(v.content, ${FRONTMATTER_MAX_CHARS}::integer) AS head,
      v.chunk_count = 0 AND NOT has_text(v.content) AS is_bare
    FROM file_versions v JOIN files f ON f.id = v.file_id
    WHERE v.id = ANY(${ids}::uuid[]) AND v.project_id = ${scope.projectId}`;
  const rows = await sql<StoredChunk[]>`
    SELECT id, file_version_id, file_id, file_path, index, content, start_offset, end_offset,
      token_count, ${sql.unsafe(writtenJson("metadata"))}::text AS metadata, dimension, embedding
    FROM chunks WHERE file_version_id = ANY(${ids}::uuid[]) AND project_id = ${scope.projectId}
    ORDER BY file_version_id, index`;
  const heads = new Map(versions.map((row) => [row.version_id, row.head]));
  const matching = await chunksIn(scope, heads, rows);
  const chunks = Map.groupBy(matching, (row) => row.file_version_id);
  return versions.map(({ version_id, id, path, is_bare }) => ({
    id: version_id,
    file: JSON.stringify({ id, path, version_id }),
    isBare: is_bare,
    chunks: (chunks.get(version_id) ?? []).flatMap((row) => [
      renderChunk(row as ChunkRow),
      row.embedding === null ? null : vectorOf(row as ChunkRow),
    ]),
  }));
}

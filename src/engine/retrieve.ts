import type { Given } from "../../native/retrieval.ts";
import type { Queryable } from "../db/client.ts";
import {
  isMarkdownPath,
  markdownChunks,
  readFrontmatterValues,
} from "../documents/markdown/index.ts";
import { parseJson } from "../domain/json/parse.ts";
import { FRONTMATTER_MAX_CHARS } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { Scope } from "../domain/scope.ts";
import type { Steps } from "../domain/steps.ts";
import { FieldProject } from "../index/fields/field-project.ts";
import { FILTER_LATE, FieldWork } from "../index/fields/field-work.ts";
import { allMatches } from "../index/fields/filter-results.ts";
import { hasDocument } from "../index/segments/index.ts";
import { renderChunk, vectorOf } from "../index/versions/chunk-content.ts";
import type { ChunkRow } from "../index/versions/version-index.ts";
import type { Reply, RetrieveRequest } from "./requests/request.ts";

/**
 * The maximum number of reads of versions for one request. Each page shows the versions that were read. It needs
 * further versions only in place of hits that turned out to be duplicates.
 */
const READS_MAX = 8;
/** Changes are visible within a second: chunks of a text that had none are shown within this time. */
const UNCUT_MS = 400;
/** The main thread answers no request while a filter is evaluated, so each slice of the evaluation takes this time. */
const SLICE_MS = 1;

type Runs = (request: RetrieveRequest) => Reply<"retrieve"> | Promise<Reply<"retrieve">>;

/**
 * Runs a retrieval. Reads file versions from the database that the page shows and that have no chunk in memory, because
 * they have no embeddings.
 *
 * @param hits hits that another database found by vector; null if the request finds them
 */
export async function retrieve(
  run: Runs,
  sql: Queryable,
  request: RetrieveRequest,
  hits: Given["hits"] = null,
): Promise<Reply<"retrieve">> {
  const versions: Array<Given["versions"][number]> = [];
  for (let reads = 0; ; reads++) {
    if (hits !== null || versions.length > 0) request.given = { versions, hits };
    const reply = await run(request);
    if (reply.status !== "unread") return reply;
    const read = await readGivenVersions(sql, request.scope, reply.versionIds);
    if (reads === READS_MAX) throw new Error("a retrieval needs ever more versions");
    versions.push(...read, ...missing(reply.versionIds, read));
  }
}

/** Versions that were deleted meanwhile show only their ids. */
function missing(
  versionIds: readonly string[],
  read: Given["versions"],
): Array<Given["versions"][number]> {
  const known = new Set(read.map(({ id }) => id));
  return versionIds
    .filter((id) => !known.has(id))
    .map((id) => ({
      id,
      file: JSON.stringify({ id: null, path: null, version_id: id }),
      chunks: [],
      parseMs: 0,
    }));
}

interface VersionRow {
  readonly version_id: string;
  readonly id: string;
  readonly path: string;
  /** The beginning of the text, with its frontmatter. */
  readonly head: string | null;
  /** Whether `head` is the whole text. */
  readonly is_whole: boolean;
  readonly chunk_count: number;
}

type StoredChunk = Omit<ChunkRow, "dimension" | "embedding"> & {
  readonly dimension: number | null;
  readonly embedding: Uint8Array | null;
};

const fieldWork = new FieldWork(SLICE_MS);

/** Milliseconds for which a version counts as having no chunks. An uncut text may get chunks at any time. */
function parseMsOf(
  path: string,
  { head, is_whole, chunk_count }: Pick<VersionRow, "head" | "is_whole" | "chunk_count">,
): number {
  if (chunk_count > 0) return 0;
  if (!is_whole || !isMarkdownPath(path)) return UNCUT_MS;
  // Frontmatter is text, but makes no chunk.
  return markdownChunks(head ?? "").next().done ? Number.POSITIVE_INFINITY : UNCUT_MS;
}

/** The chunks that belong to a scope, also to a derived one. Those of one version are consecutive. */
async function chunksIn(
  { tenant, filter }: Scope,
  heads: ReadonlyMap<string, string | null>,
  rows: StoredChunk[],
): Promise<StoredChunk[]> {
  if (filter === undefined) return rows;
  const project = new FieldProject();
  function* evaluation(json: string): Steps<StoredChunk[]> {
    for (const [id, own] of Map.groupBy(rows, (row) => row.file_version_id)) {
      yield;
      const [frontmatter, path] = [readFrontmatterValues(heads.get(id) ?? ""), own[0]?.file_path];
      const metadata = own.map((row) => parseJson(row.metadata) as Record<string, unknown>);
      const dimensions = own.map(() => 0);
      project.add({ id, path: path as string, frontmatter, dimensions, metadata });
    }
    const { numbers, chunks } = yield* allMatches(project, json);
    const matching = new Set([...numbers].map((number) => project.table.idOf(number)));
    // The chunks have numbers in the order of the rows.
    return rows.filter(
      (row, i) => matching.has(row.file_version_id) && (chunks === null || hasDocument(chunks, i)),
    );
  }
  const { json } = filter;
  const found = await fieldWork.inTurn(tenant, (evaluate) => evaluate(evaluation(json)));
  if (found === "late" || found === undefined) throw new Problem("overloaded", FILTER_LATE);
  return found;
}

/**
 * Reads file versions with their chunks that are in a scope, for a retrieval.
 *
 * @param sql the platform's database
 * @param versionIds versions that the scope holds
 */
async function readGivenVersions(
  sql: Queryable,
  scope: Scope,
  versionIds: readonly string[],
): Promise<Given["versions"]> {
  const ids = versionIds as string[];
  const versions = await sql<VersionRow[]>`
    SELECT v.id AS version_id, f.id, f.path, left(v.content, ${FRONTMATTER_MAX_CHARS}::integer) AS head,
      coalesce(length(v.content), 0) <= ${FRONTMATTER_MAX_CHARS}::integer AS is_whole, v.chunk_count
    FROM file_versions v JOIN files f ON f.id = v.file_id
    WHERE v.id = ANY(${ids}::uuid[]) AND v.project_id = ${scope.projectId}`;
  const rows = await sql<StoredChunk[]>`
    SELECT id, file_version_id, file_id, file_path, index, content, start_offset, end_offset,
      token_count, metadata::text, dimension, embedding
    FROM chunks WHERE file_version_id = ANY(${ids}::uuid[]) AND project_id = ${scope.projectId}
    ORDER BY file_version_id, index`;
  const heads = new Map(versions.map((row) => [row.version_id, row.head]));
  const matching = await chunksIn(scope, heads, rows);
  const chunks = Map.groupBy(matching, (row) => row.file_version_id);
  return versions.map(({ version_id, id, path, ...version }) => ({
    id: version_id,
    file: JSON.stringify({ id, path, version_id }),
    parseMs: parseMsOf(path, version),
    chunks: (chunks.get(version_id) ?? []).flatMap((row) => [
      renderChunk(row as ChunkRow),
      row.embedding === null ? null : vectorOf(row as ChunkRow),
    ]),
  }));
}

import { readFile } from "../../content/files/queries.ts";
import type { Queryable } from "../../db/client.ts";
import { isStorable, isUuid } from "../../domain/formats.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { Scope } from "../../domain/scope.ts";
import { floatsOf, vectorFault } from "../../domain/vector.ts";
import type { Question, RetrieveState } from "./question.ts";
import type { RetrieveSource } from "./schema.ts";

/** Chunks of a file whose embeddings stand for the file: its first ones. */
const SOURCE_CHUNKS_MAX = 256;
/** The weight of `unlike`; the query and `like` have the weight 1. */
const UNLIKE_WEIGHT = 0.5;

type Excluded = RetrieveState["excluded"];
type SourceField = "like" | "unlike";

/** A vector that the answer is to resemble, or to differ from. */
interface Source {
  readonly field: SourceField;
  readonly vector: Float32Array;
  readonly excluded: Excluded;
}

const faulty = (field: string, message: string) => invalid([{ field, message }]);

/** Adds a vector, as if it were of length 1. */
function addUnit(sum: Float32Array, vector: Float32Array, weight: number): void {
  const length = Math.sqrt(vector.reduce((squares, element) => squares + element ** 2, 0));
  const factor = weight / length;
  for (const [i, element] of vector.entries()) sum[i] = (sum[i] as number) + factor * element;
}

interface EmbeddingRow {
  /** Null without an embedding. */
  readonly embedding: Uint8Array | null;
}

/** The direction of embeddings. If they have several dimensions, only those in the dimension of the first one count. */
function directionOf(rows: readonly EmbeddingRow[], field: string): Float32Array {
  const vectors = rows.flatMap(({ embedding }) => (embedding === null ? [] : floatsOf(embedding)));
  const [first] = vectors;
  if (first === undefined) throw faulty(field, "has no embedding");
  if (vectors.length === 1) return first;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) if (vector.length === sum.length) addUnit(sum, vector, 1);
  if (vectorFault(sum) !== undefined) throw faulty(field, "has embeddings that cancel each other");
  return sum;
}

/** Throws `index-behind` until the project's embedder has embedded the file version. */
async function requireEmbedded(sql: Queryable, versionId: string, field: string): Promise<void> {
  const rows = await sql`SELECT FROM embedding_queue WHERE file_version_id = ${versionId}`;
  if (rows.length === 0) return;
  throw new Problem("index-behind", { detail: `The embedding of ${field} is not there yet.` });
}

async function readChunk(
  sql: Queryable,
  { projectId }: Scope,
  id: string,
  field: SourceField,
): Promise<Source> {
  const rows = isUuid(id)
    ? await sql<(EmbeddingRow & { id: string; version: string })[]>`
        SELECT id, embedding, file_version_id AS version FROM chunks WHERE id = ${id} AND project_id = ${projectId}`
    : [];
  const [row] = rows;
  if (row === undefined) throw new Problem("chunk-not-found");
  if (row.embedding === null) await requireEmbedded(sql, row.version, `${field}.chunk_id`);
  const excluded = { chunkIds: [row.id], paths: [], chunks: 1 };
  return { field, vector: directionOf(rows, `${field}.chunk_id`), excluded };
}

async function readPath(
  sql: Queryable,
  scope: Scope,
  path: string,
  field: SourceField,
): Promise<Source> {
  const file = isStorable(path) ? await readFile(sql, scope, { name: path }) : undefined;
  if (file === undefined) throw new Problem("file-not-found");
  const rows = await sql<EmbeddingRow[]>`
    SELECT embedding FROM chunks
    WHERE file_version_id = ${file.version_id} AND project_id = ${scope.projectId}
      AND embedding IS NOT NULL
    ORDER BY index LIMIT ${SOURCE_CHUNKS_MAX}`;
  if (rows.length === 0) await requireEmbedded(sql, file.version_id, `${field}.path`);
  const excluded = { chunkIds: [], paths: [file.path], chunks: Math.max(1, file.chunk_count) };
  return { field, vector: directionOf(rows, `${field}.path`), excluded };
}

/**
 * The chunks or files that a question names. Throws `chunk-not-found`, `file-not-found`, and a 400 about a source
 * without an embedding.
 *
 * @param scope the whole scope, without a filter
 */
export async function readSources(
  sql: Queryable,
  scope: Scope,
  question: Pick<Question, SourceField>,
): Promise<Source[]> {
  const sources: Source[] = [];
  for (const field of ["like", "unlike"] as const) {
    const text = question[field];
    if (text === null) continue;
    const source = JSON.parse(text) as RetrieveSource;
    sources.push(
      "path" in source
        ? await readPath(sql, scope, source.path, field)
        : await readChunk(sql, scope, source.chunk_id, field),
    );
  }
  return sources;
}

/** The chunks and files that an answer leaves out because of its sources. */
export function excludedBy(sources: readonly Source[]): Excluded {
  return sources.reduce<Excluded>(
    (all, { excluded }) => ({
      chunkIds: [...all.chunkIds, ...excluded.chunkIds],
      paths: [...all.paths, ...excluded.paths],
      chunks: all.chunks + excluded.chunks,
    }),
    { chunkIds: [], paths: [], chunks: 0 },
  );
}

/**
 * The vector of a question: that of its query, if it has one, moved towards `like` and away from `unlike`; null without
 * a query and `like`. Throws a 400 about sources whose dimension differs from the query's.
 */
export function combined(
  query: Float32Array | null,
  sources: readonly Source[],
): Float32Array | null {
  const like = sources.find(({ field }) => field === "like")?.vector ?? null;
  const only = query ?? like;
  if (only === null || sources.length + (query === null ? 0 : 1) === 1) return only;
  const dimension = only.length;
  const sum = new Float32Array(dimension);
  if (query !== null) addUnit(sum, query, 1);
  for (const { field, vector } of sources) {
    if (vector.length !== dimension) {
      const message = `has an embedding of ${vector.length} dimensions, and the other vector has ${dimension}`;
      throw faulty(field, message);
    }
    addUnit(sum, vector, field === "like" ? 1 : -UNLIKE_WEIGHT);
  }
  if (vectorFault(sum) !== undefined) throw faulty("unlike", "leaves nothing to look for");
  return sum;
}

import { randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";

/** A file to write into the database, past the service. */
export interface BenchFile {
  readonly path: string;
  /** Null for a file of which only the chunks are known. */
  readonly content: string | null;
  readonly chunks: readonly BenchChunk[];
}

interface BenchChunk {
  readonly content: string;
  readonly vector: Float32Array<ArrayBuffer>;
}

/** Chunks of these vectors, whose text is as long as that of usual ones. */
export function chunksOf(
  vectors: readonly Float32Array<ArrayBuffer>[],
  name: string,
): BenchChunk[] {
  return vectors.map((vector, index) => ({
    content: `Chunk ${index} of ${name}. `.padEnd(500, "lorem ipsum "),
    vector,
  }));
}

/** Writes new versions of files, in no scope yet, with one statement for all chunks. Returns the versions' ids. */
export async function writeFiles(
  sql: Sql,
  projectId: string,
  files: readonly BenchFile[],
): Promise<string[]> {
  const versions = files.map(() => randomUUID());
  const chunks = files.flatMap((file, i) =>
    file.chunks.map((chunk, index) => ({ ...chunk, version: versions[i] as string, index })),
  );
  await sql`
    WITH given AS (
      SELECT * FROM unnest(${versions}::uuid[], ${files.map(({ path }) => path)}::text[],
        ${files.map(({ content }) => content)}::text[],
        ${files.map((file) => file.chunks.length)}::int[]) AS t (version, path, content, chunks)
    ), made AS (
      INSERT INTO files (id, project_id, path)
      SELECT gen_random_uuid(), ${projectId}, path FROM given
      ON CONFLICT (project_id, path) DO UPDATE SET path = excluded.path
      RETURNING id, path
    )
    INSERT INTO file_versions (id, project_id, file_id, version_key, content, title, chunk_count)
    SELECT version, ${projectId}, made.id, version::text, content, path, chunks
    FROM given JOIN made USING (path)`;
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      end_offset, token_count, metadata, dimension, embedding)
    SELECT gen_random_uuid(), ${projectId}, v.file_id, v.id, f.path, u.index, u.content,
      length(u.content), length(u.content) / 4, '{"headings":["Bench"]}'::jsonb, u.dimension,
      decode(u.embedding, 'base64')
    FROM unnest(${chunks.map(({ version }) => version)}::uuid[],
      ${chunks.map(({ index }) => index)}::int[], ${chunks.map(({ content }) => content)}::text[],
      ${chunks.map(({ vector }) => vector.length)}::int[],
      ${chunks.map(({ vector }) => base64Of(vector))}::text[])
      AS u (version, index, content, dimension, embedding)
    JOIN file_versions v ON v.id = u.version JOIN files f ON f.id = v.file_id`;
  return versions;
}

/** Puts versions into an environment, in place of older ones. */
export async function attach(
  sql: Sql,
  projectId: string,
  environmentId: string,
  versions: readonly string[],
): Promise<void> {
  await sql`
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    SELECT ${projectId}, ${environmentId}, file_id, id
    FROM file_versions WHERE id = ANY(${versions}::uuid[])
    ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id`;
}

/** Writes files into an environment, in one transaction. */
export async function publish(
  sql: Sql,
  projectId: string,
  environmentId: string,
  files: readonly BenchFile[],
): Promise<void> {
  await sql.begin(async (tx) => {
    // One statement stores all chunks, of any number.
    await tx`SET LOCAL statement_timeout = 0`;
    const versions = await writeFiles(tx as never, projectId, files);
    await attach(tx as never, projectId, environmentId, versions);
  });
}

/** The vectors of a range, each in memory of its own. */
export const slices = (
  vectors: Float32Array<ArrayBuffer>,
  dimension: number,
  from = 0,
  to = vectors.length / dimension,
): Float32Array<ArrayBuffer>[] =>
  Array.from({ length: to - from }, (_, i) =>
    vectors.slice((from + i) * dimension, (from + i + 1) * dimension),
  );

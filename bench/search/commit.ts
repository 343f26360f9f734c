import { randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";

const TEXT_CHARS = 500;

let fileCount = 0;

/**
 * Writes chunks in new files into an environment, in one transaction. `vectors` holds one vector of
 * `dimension` elements per chunk. Returns after the commit.
 */
export async function commitChunks(
  sql: Sql,
  to: { readonly project: { readonly id: string }; readonly environment: { readonly id: string } },
  chunks: { readonly vectors: Float32Array; readonly dimension: number; readonly perFile: number },
): Promise<void> {
  const { vectors, dimension, perFile } = chunks;
  const projectId = to.project.id;
  const count = vectors.length / dimension;
  const files = Array.from({ length: Math.ceil(count / perFile) }, () => ({
    id: randomUUID(),
    version: randomUUID(),
    path: `docs/file-${fileCount++}.md`,
  }));
  const ids = files.map((file) => file.id);
  const versions = files.map((file) => file.version);
  const rows = Array.from({ length: count }, (_, i) => ({
    file: files[Math.floor(i / perFile)] as (typeof files)[number],
    index: i % perFile,
    embedding: Buffer.from(
      vectors.buffer,
      vectors.byteOffset + i * dimension * 4,
      dimension * 4,
    ).toString("base64"),
  }));
  await sql.begin(async (tx) => {
    // One statement stores all chunks, however many there are.
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`INSERT INTO files (id, project_id, path)
      SELECT u.id, ${projectId}, u.path
      FROM unnest(${ids}::uuid[], ${files.map((file) => file.path)}::text[]) AS u (id, path)`;
    await tx`INSERT INTO file_versions (id, project_id, file_id, version_key, chunk_count)
      SELECT u.version, ${projectId}, u.file, '1', ${perFile}
      FROM unnest(${ids}::uuid[], ${versions}::uuid[]) AS u (file, version)`;
    await tx`INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
        end_offset, token_count, metadata, dimension, embedding)
      SELECT gen_random_uuid(), ${projectId}, u.file, u.version, u.path, u.index,
        rpad('Chunk ' || u.path || ' ' || u.index || ' ', ${TEXT_CHARS}, 'lorem ipsum '),
        ${TEXT_CHARS}, ${TEXT_CHARS / 4}, '{}'::jsonb, ${dimension}, decode(u.embedding, 'base64')
      FROM unnest(${rows.map((row) => row.file.id)}::uuid[],
        ${rows.map((row) => row.file.version)}::uuid[], ${rows.map((row) => row.file.path)}::text[],
        ${rows.map((row) => row.index)}::int[], ${rows.map((row) => row.embedding)}::text[])
        AS u (file, version, path, index, embedding)`;
    await tx`INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${projectId}, ${to.environment.id}, u.file, u.version
      FROM unnest(${ids}::uuid[], ${versions}::uuid[]) AS u (file, version)`;
  });
}

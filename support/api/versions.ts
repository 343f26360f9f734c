import { randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";
import { fileTitle } from "../../src/documents/markdown/index.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { addRelease, type NamedScope } from "../accounts.ts";
import { randomNumbers } from "../random.ts";
import type { TestProject } from "./api.ts";

export interface TestChunk {
  readonly id: string;
  readonly vector: Float32Array<ArrayBuffer>;
  readonly content: string;
}

export interface TestVersion {
  readonly id: string;
  readonly fileId: string;
  readonly path: string;
  readonly chunks: readonly TestChunk[];
}

/** A random vector; the same seed gives the same one. */
export function randomVector(dimension: number, seed: number): Float32Array<ArrayBuffer> {
  const next = randomNumbers(seed);
  return Float32Array.from({ length: dimension }, () => next() - 0.5);
}

/** A vector near another one; less noise makes it nearer. */
export function nearVector(
  vector: Float32Array,
  noise: number,
  seed: number,
): Float32Array<ArrayBuffer> {
  const other = randomVector(vector.length, seed);
  return Float32Array.from(vector, (value, i) => value + noise * (other[i] as number));
}

/** Cosine similarity, computed directly. */
export function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

export const chunkOf = (
  vector: Float32Array<ArrayBuffer>,
  id: string = randomUUID(),
): TestChunk => ({
  id,
  vector,
  content: `the text of chunk "${id}" – ünïcode 🚀`,
});

/**
 * Writes a new version of a file, in no scope yet. Creates the file if the path is new.
 *
 * @param contents its chunks, or its text without chunks
 */
export async function writeVersion(
  sql: Sql,
  project: TestProject,
  path: string,
  contents: readonly TestChunk[] | string,
  id: string = randomUUID(),
): Promise<TestVersion> {
  const [chunks, text] = typeof contents === "string" ? [[], contents] : [contents, null];
  const [file] = await sql<{ id: string }[]>`
    INSERT INTO files (id, project_id, path) VALUES (${randomUUID()}, ${project.id}, ${path})
    ON CONFLICT (project_id, path) DO UPDATE SET path = excluded.path RETURNING id`;
  const fileId = file?.id as string;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, content, title, chunk_count)
    VALUES (${id}, ${project.id}, ${fileId}, ${id}, ${text}, ${fileTitle(path, text)}, ${chunks.length})`;
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      start_offset, end_offset, token_count, metadata, dimension, embedding)
    SELECT t.id, ${project.id}, ${fileId}, ${id}, ${path}, t.place - 1, t.content,
      0, 9, 2, '{"big": 12345678901234567890, "headings": ["A", "B"]}'::jsonb,
      t.dimension, decode(t.embedding, 'base64')
    FROM unnest(${chunks.map((c) => c.id)}::uuid[], ${chunks.map((c) => c.content)}::text[],
      ${chunks.map((c) => c.vector.length)}::int[], ${chunks.map((c) => base64Of(c.vector))}::text[])
      WITH ORDINALITY AS t (id, content, dimension, embedding, place)`;
  return { id, fileId, path, chunks };
}

/** Puts versions into the working set of an environment, replacing older ones. */
export async function attach(
  sql: Sql,
  project: TestProject,
  environmentId: string,
  versions: readonly TestVersion[],
): Promise<void> {
  await sql`
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    SELECT ${project.id}, ${environmentId}, t.file, t.version
    FROM unnest(${versions.map((v) => v.fileId)}::uuid[], ${versions.map((v) => v.id)}::uuid[])
      AS t (file, version)
    ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id`;
}

/** Puts new versions of texts into the working set of an environment, in one transaction. */
export async function publishTexts(
  sql: Sql,
  project: TestProject,
  environment: NamedScope,
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  await sql.begin(async (tx) => {
    const versions: TestVersion[] = [];
    for (const [path, text] of Object.entries(texts)) {
      versions.push(await writeVersion(tx as never, project, path, text));
    }
    await attach(tx as never, project, environment.id, versions);
  });
}

/** Adds versions to a release that is not frozen. */
export async function release(
  sql: Sql,
  project: TestProject,
  releaseId: string,
  versions: readonly TestVersion[],
): Promise<void> {
  await sql`
    UPDATE releases SET contents_id = (SELECT stored FROM store_contents(${project.id},
      ARRAY(SELECT contents_versions(contents_id)) || ${versions.map((v) => v.id)}::uuid[]))
    WHERE id = ${releaseId}`;
}

/** A release that appears with these versions, so that no search finds it empty. */
export async function filledRelease(
  sql: Sql,
  project: TestProject,
  name: string,
  versions: readonly TestVersion[],
): Promise<NamedScope> {
  return await sql.begin(async (transaction) => {
    const tx = transaction as never;
    const added = await addRelease(tx, project, name);
    await release(tx, project, added.id, versions);
    return added;
  });
}

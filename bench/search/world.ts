import { generateKey, hashKey, parseKey } from "../../src/auth/key-format.ts";
import type { Sql } from "../../src/db/client.ts";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { readVectors } from "../harness/vector-files.ts";

/** The project that the benchmark searches: files of ten chunks, and releases with some of them. */
export interface World {
  readonly projectId: string;
  readonly dimension: number;
  readonly chunks: number;
  /** All vectors, then the queries, one after another. */
  readonly vectors: Float32Array<ArrayBuffer>;
  readonly queries: readonly Float32Array<ArrayBuffer>[];
  readonly apiKey: string;
}

/** Scopes by their share of the chunks; 1 is the environment `production`. */
export const SHARES = [1, 0.5, 0.1, 0.02, 0.005] as const;
export const CHUNKS_PER_FILE = 10;

export const SLUG = "bench";
const BATCH_CHUNKS = 500;
const TEXT_CHARS = 500;

/** A UUID from the kind of a row and its number. */
export function idOf(kind: number, number: number): string {
  const tail = number.toString(16).padStart(12, "0");
  return `${kind.toString(16).padStart(8, "0")}-0000-4000-8000-${tail}`;
}

export const PROJECT_ID = idOf(1, 0);
export const versionId = (file: number) => idOf(4, file);
export const chunkId = (chunk: number) => idOf(5, chunk);

/** Whether a file is in the scope of this share. Members are spread evenly over all clusters. */
export function isMember(file: number, share: number): boolean {
  return (Math.imul(file + 1, 0x9e3779b1) >>> 0) / 2 ** 32 < share;
}

export const releaseName = (share: number) => `share-${share}`;

/** Vectors and queries from one distribution; the same arguments give the same ones. */
export function makeWorld(
  chunks: number,
  queryCount: number,
  dimension: number,
  kind: DataKind = "clusters",
): World {
  const vectors = makeVectors(kind, chunks + queryCount, dimension, 1);
  const queries = Array.from({ length: queryCount }, (_, i) =>
    vectors.slice((chunks + i) * dimension, (chunks + i + 1) * dimension),
  );
  return { projectId: PROJECT_ID, dimension, chunks, vectors, queries, apiKey: generateKey() };
}

/** Vectors and queries from files. */
export function givenWorld(base: string, asked: string, count: number, dimension: number): World {
  const { rows: chunks, values: vectors } = readVectors(base, dimension);
  const { rows, values } = readVectors(asked, dimension);
  const queries = Array.from({ length: Math.min(rows, count) }, (_, i) =>
    values.slice(i * dimension, (i + 1) * dimension),
  );
  return { projectId: PROJECT_ID, dimension, chunks, vectors, queries, apiKey: generateKey() };
}

/** Writes the project, its owner and the owner's API key. */
export async function writeOwner(sql: Sql, apiKey: string): Promise<void> {
  const userId = idOf(2, 0);
  await sql`INSERT INTO users (id, email) VALUES (${userId}, 'bench@example.com')
    ON CONFLICT DO NOTHING`;
  await sql`INSERT INTO projects (id, slug, name) VALUES (${PROJECT_ID}, ${SLUG}, 'Bench')
    ON CONFLICT DO NOTHING`;
  await sql`INSERT INTO memberships (project_id, user_id, role)
    VALUES (${PROJECT_ID}, ${userId}, 'owner')
    ON CONFLICT DO NOTHING`;
  const prefix = parseKey(apiKey)?.keyPrefix as string;
  await sql`INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
    VALUES (${crypto.randomUUID()}, ${userId}, 'bench', ${prefix}, ${Buffer.from(hashKey(apiKey))})`;
}

async function writeChunks(sql: Sql, world: World, first: number): Promise<void> {
  const { dimension, vectors } = world;
  const numbers = Array.from(
    { length: Math.min(BATCH_CHUNKS, world.chunks - first) },
    (_, i) => first + i,
  );
  const fileOf = (chunk: number) => Math.floor(chunk / CHUNKS_PER_FILE);
  const embeddings = numbers.map((chunk) =>
    Buffer.from(vectors.buffer, chunk * dimension * 4, dimension * 4).toString("base64"),
  );
  const contents = numbers.map((chunk) => `Chunk ${chunk}. `.padEnd(TEXT_CHARS, "lorem ipsum "));
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      end_offset, token_count, metadata, dimension, embedding)
    SELECT u.id, ${PROJECT_ID}, u.file, u.version, 'docs/file-' || u.number || '.md',
      u.index, u.content, ${TEXT_CHARS}, ${TEXT_CHARS / 4}, '{"headings":["Bench"]}'::jsonb,
      ${dimension}, decode(u.embedding, 'base64')
    FROM unnest(${numbers.map(chunkId)}::uuid[], ${numbers.map((n) => idOf(3, fileOf(n)))}::uuid[],
      ${numbers.map((n) => versionId(fileOf(n)))}::uuid[], ${numbers.map(fileOf)}::int[],
      ${numbers.map((n) => n % CHUNKS_PER_FILE)}::int[], ${contents}::text[], ${embeddings}::text[])
      AS u (id, file, version, number, index, content, embedding)`;
}

/** Makes a frozen release of these files. */
export async function writeRelease(
  sql: Sql,
  id: string,
  name: string,
  files: readonly number[],
): Promise<void> {
  await sql`INSERT INTO releases (id, project_id, name) VALUES (${id}, ${PROJECT_ID}, ${name})`;
  await sql`SELECT fill_release(${id}, ${files.map(versionId)}::uuid[])`;
}

/** Writes the world to PostgreSQL, unless an earlier run has. Returns the seconds it took, or 0. */
export async function writeWorld(sql: Sql, world: World): Promise<number> {
  const startedAt = performance.now();
  const files = Array.from({ length: Math.ceil(world.chunks / CHUNKS_PER_FILE) }, (_, i) => i);
  const [written] = await sql`SELECT 1 FROM environments WHERE id = ${idOf(6, 0)}`;
  await writeOwner(sql, world.apiKey);
  if (written !== undefined) return 0;
  await sql`
    INSERT INTO files (id, project_id, path)
    SELECT u.id, ${PROJECT_ID}, 'docs/file-' || u.number || '.md'
    FROM unnest(${files.map((f) => idOf(3, f))}::uuid[], ${files}::int[]) AS u (id, number)`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, chunk_count)
    SELECT u.version, ${PROJECT_ID}, u.file, '1',
      least(${CHUNKS_PER_FILE}, ${world.chunks} - u.number * ${CHUNKS_PER_FILE})
    FROM unnest(${files.map((f) => idOf(3, f))}::uuid[], ${files.map(versionId)}::uuid[],
      ${files}::int[]) AS u (file, version, number)`;
  for (let first = 0; first < world.chunks; first += BATCH_CHUNKS) {
    await writeChunks(sql, world, first);
  }
  for (const share of SHARES.filter((share) => share < 1)) {
    const members = files.filter((file) => isMember(file, share));
    await writeRelease(sql, idOf(7, share * 1000), releaseName(share), members);
  }
  await sql.begin(async (tx) => {
    await tx`INSERT INTO environments (id, project_id, name)
      VALUES (${idOf(6, 0)}, ${PROJECT_ID}, 'production')`;
    await tx`
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${PROJECT_ID}, ${idOf(6, 0)}, file_id, id FROM file_versions
      WHERE project_id = ${PROJECT_ID}`;
  });
  return (performance.now() - startedAt) / 1000;
}

/** Path of the search operation in the scope of this share. */
export function searchPath(share: number): string {
  const scope = share === 1 ? "environments/production" : `releases/${releaseName(share)}`;
  return `/projects/${SLUG}/${scope}/search`;
}

/** Waits until the graph holds every vector. */
export async function untilGraphed(sql: Sql, chunks: number): Promise<void> {
  for (;;) {
    const [state] = await sql`
      SELECT sum(vectors)::int AS vectors, sum(graphed)::int AS graphed FROM index_state
      WHERE updated_at > now() - interval '10 seconds'`;
    if (state?.["vectors"] === chunks && state["graphed"] === chunks) return;
    await Bun.sleep(250);
  }
}

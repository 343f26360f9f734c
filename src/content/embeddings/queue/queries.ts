import type { Queryable, Sql, Transaction } from "../../../db/client.ts";
import { bytesOf, count, type StoredRow } from "../../../db/quotas.ts";
import { transaction } from "../../../db/transaction.ts";
import { base64Of } from "../../../domain/vector.ts";
import { CLAIM_SECONDS } from "../claims.ts";
import { cutVersions } from "../store.ts";
import { noteFailures } from "./failures.ts";

/** Maximum files of a claim. */
const CLAIM_FILES = 32;

export interface WaitingProject {
  readonly id: string;
  /** An owner, who shares the embedder with others. */
  readonly tenant: string;
}

/** Files of a project that wait for their embeddings. */
export async function countWaiting(sql: Queryable, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM embedding_queue WHERE project_id = ${projectId}`;
  return row?.count ?? 0;
}

/** The position of a project with an embedder. */
export interface EmbeddedPosition {
  /** The fingerprint of the embedder. */
  readonly embedder: string;
  /** The last change of the project, in which the files have their embeddings that are not in the queue. */
  readonly seq: number;
  /** The first and the last place in the queue of files that wait or are being embedded; null without such files. */
  readonly oldest: number | null;
  readonly newest: number | null;
}

/**
 * The positions of the projects that have an embedder, by id. Files that the embedder refuses do not wait: they are due
 * later than claimed ones. A claim may have begun after this transaction, whose now() is before its own.
 */
export async function readEmbeddedPositions(
  sql: Queryable,
  projects: readonly string[],
): Promise<Map<string, EmbeddedPosition>> {
  const rows = await sql<(EmbeddedPosition & { id: string })[]>`
    SELECT p.id, p.embedder, q.oldest::float8 AS oldest, q.newest::float8 AS newest,
      coalesce((SELECT max(seq) FROM change_log WHERE project_id = p.id), 0)::float8 AS seq
    FROM projects p CROSS JOIN LATERAL (
      SELECT min(id) AS oldest, max(id) AS newest FROM embedding_queue
      WHERE project_id = p.id AND due <= clock_timestamp() + make_interval(secs => ${CLAIM_SECONDS})) AS q
    WHERE p.id = ANY (${[...projects]}::uuid[]) AND p.embedder IS NOT NULL`;
  return new Map(rows.map(({ id, ...position }) => [id, position]));
}

/** True if a waiting file or a requested rebuild is not claimed. */
export async function isWaiting(sql: Queryable): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM embedding_queue WHERE due <= now()
    UNION ALL SELECT 1 FROM rebuild_requests WHERE due <= now() LIMIT 1`;
  return row !== undefined;
}

/** The projects of an embedder with unclaimed files, but those that are being deleted. */
export async function waitingProjects(
  sql: Queryable,
  fingerprint: string,
): Promise<WaitingProject[]> {
  // One look at the index per project, however many files it has waiting.
  return await sql<WaitingProject[]>`
    WITH RECURSIVE waiting AS (
      (SELECT project_id FROM embedding_queue ORDER BY project_id LIMIT 1)
      UNION ALL
      SELECT (SELECT q.project_id FROM embedding_queue q WHERE q.project_id > w.project_id
        ORDER BY q.project_id LIMIT 1)
      FROM waiting w WHERE w.project_id IS NOT NULL)
    SELECT p.id, coalesce((SELECT m.user_id FROM memberships m WHERE m.project_id = p.id
      ORDER BY m.role <> 'owner', m.created_at, m.user_id LIMIT 1), p.id) AS tenant
    FROM waiting w JOIN projects p ON p.id = w.project_id
    WHERE p.embedder = ${fingerprint} AND EXISTS (
      SELECT FROM embedding_queue q WHERE q.project_id = p.id AND q.due <= now())
      AND lock_project(p.id)`;
}

/** Claims files of a project, oldest first, cuts those that are not cut, and returns their versions. */
export async function claim(sql: Sql, projectId: string): Promise<string[]> {
  return await transaction(sql, async (tx) => {
    const rows = await tx<{ id: string }[]>`
      WITH next AS (
        SELECT file_version_id, id FROM embedding_queue
        WHERE project_id = ${projectId} AND due <= now() AND (SELECT lock_project(${projectId}))
        ORDER BY id LIMIT ${CLAIM_FILES} FOR UPDATE SKIP LOCKED)
      UPDATE embedding_queue q SET due = now() + make_interval(secs => ${CLAIM_SECONDS})
      FROM next WHERE q.file_version_id = next.file_version_id
      RETURNING q.file_version_id AS id, q.id AS position`;
    const versions = rows.map(({ id }) => id);
    await cutVersions(tx, versions);
    return versions;
  });
}

/** Claims files for longer that are still worked on. */
export async function extendClaim(sql: Queryable, versions: readonly string[]): Promise<void> {
  await sql`
    UPDATE embedding_queue SET due = now() + make_interval(secs => ${CLAIM_SECONDS})
    WHERE file_version_id = ANY (${[...versions]}::uuid[])`;
}

/** Gives claimed files back. They are due when the first of their chunks is. */
export async function release(sql: Queryable, versions: readonly string[]): Promise<void> {
  await sql`
    UPDATE embedding_queue q SET due = coalesce((
      SELECT min(coalesce(f.due, now())) FROM chunks c LEFT JOIN embedding_failures f ON f.chunk_id = c.id
      WHERE c.file_version_id = q.file_version_id AND c.embedding IS NULL), now())
    WHERE file_version_id = ANY (${[...versions]}::uuid[])`;
}

/**
 * Removes the files from the queue that have all embeddings, and notes in the change log those that got some
 * and wait for no others but those of failed chunks.
 */
async function finish(
  tx: Transaction,
  projectId: string,
  versions: readonly string[],
  changed: readonly string[],
): Promise<void> {
  await tx`
    DELETE FROM embedding_queue q WHERE q.file_version_id = ANY (${[...versions]}::uuid[])
      AND NOT EXISTS (SELECT FROM chunks c
        WHERE c.file_version_id = q.file_version_id AND c.embedding IS NULL)`;
  await tx`
    SELECT append_change(${projectId}, 'embedded', version)
    FROM unnest(${[...changed]}::uuid[]) AS version
    WHERE NOT EXISTS (SELECT FROM chunks c WHERE c.file_version_id = version AND c.embedding IS NULL
      AND NOT EXISTS (SELECT FROM embedding_failures f WHERE f.chunk_id = c.id))`;
}

/** Outcomes of chunks: vectors, and reasons for failures. */
interface StoredOutcomes {
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly reasons: ReadonlyMap<string, string>;
}

/**
 * Stores the outcomes of chunks of claimed files, and notes the files that have all of theirs. Has no effect
 * if the project has got another embedder meanwhile, or is being deleted.
 */
export async function store(
  sql: Sql,
  { id, fingerprint }: { id: string; fingerprint: string },
  versions: readonly string[],
  { vectors, reasons }: StoredOutcomes,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const [project] = await tx<{ embedder: string | null }[]>`
      SELECT embedder FROM projects WHERE id = ${id} AND (SELECT lock_project(${id})) FOR KEY SHARE`;
    if (project?.embedder !== fingerprint) return;
    const embedded = await tx<(StoredRow & { version: string })[]>`
      UPDATE chunks c SET embedder = ${fingerprint}, embedding = decode(u.embedding, 'base64'),
        dimension = octet_length(decode(u.embedding, 'base64')) / 4
      FROM unnest(${[...vectors.keys()]}::uuid[], ${[...vectors.values()].map(base64Of)}::text[])
        AS u (id, embedding)
      WHERE c.id = u.id AND c.embedding IS NULL
      RETURNING c.file_version_id AS version, octet_length(c.embedding) AS stored_bytes`;
    await count(tx, id, { bytes: bytesOf(embedded) });
    await tx`DELETE FROM embedding_failures WHERE chunk_id = ANY (${[...vectors.keys()]}::uuid[])`;
    const failed = await noteFailures(tx, id, reasons);
    const changed = new Set([...embedded.map(({ version }) => version), ...failed]);
    await finish(tx, id, versions, [...changed]);
  });
}

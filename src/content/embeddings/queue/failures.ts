import type { Queryable } from "../../../db/client.ts";

/** The first pause of a chunk at which its embedder fails, which doubles up to the longest. */
const FAILED_RETRY_FIRST_SECONDS = 30;
const FAILED_RETRY_LONGEST_SECONDS = 21_600;
/** Doublings from the first pause to the longest, and some more; it keeps the power finite. */
const FAILED_DOUBLINGS_MAX = 16;
/** Failures that the index state lists. */
export const FAILURES_LISTED_MAX = 100;

interface ChunkFailure {
  readonly chunkId: string;
  readonly fileId: string;
  readonly path: string;
  readonly index: number;
  readonly reason: string;
  readonly attempts: number;
  readonly retryAt: Date;
}

/** Notes chunks at which their embedder fails, and returns the file versions of those that failed first now. */
export async function noteFailures(
  sql: Queryable,
  projectId: string,
  reasons: ReadonlyMap<string, string>,
): Promise<string[]> {
  if (reasons.size === 0) return [];
  const rows = await sql<{ version: string }[]>`
    WITH noted AS (
    INSERT INTO embedding_failures AS f (chunk_id, project_id, reason, attempts, due)
    SELECT c.id, ${projectId}, u.reason, 1, now() + make_interval(secs => ${FAILED_RETRY_FIRST_SECONDS})
    FROM unnest(${[...reasons.keys()]}::uuid[], ${[...reasons.values()]}::text[]) AS u (id, reason)
    JOIN chunks c ON c.id = u.id AND c.embedding IS NULL
    ON CONFLICT (chunk_id) DO UPDATE SET reason = excluded.reason, attempts = f.attempts + 1,
      due = now() + make_interval(secs => least(${FAILED_RETRY_LONGEST_SECONDS},
        ${FAILED_RETRY_FIRST_SECONDS} * 2 ^ least(f.attempts, ${FAILED_DOUBLINGS_MAX})))
    RETURNING f.chunk_id, f.attempts)
    SELECT DISTINCT c.file_version_id AS version FROM noted JOIN chunks c ON c.id = noted.chunk_id
    WHERE noted.attempts = 1`;
  return rows.map(({ version }) => version);
}

export async function countFailures(sql: Queryable, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM embedding_failures WHERE project_id = ${projectId}`;
  return row?.count ?? 0;
}

/** The first failures of a project by file and chunk. */
export async function readFailures(sql: Queryable, projectId: string): Promise<ChunkFailure[]> {
  return await sql<ChunkFailure[]>`
    SELECT c.id AS "chunkId", c.file_id AS "fileId", c.file_path AS path, c.index, f.reason, f.attempts,
      f.due AS "retryAt"
    FROM embedding_failures f JOIN chunks c ON c.id = f.chunk_id
    WHERE f.project_id = ${projectId}
    ORDER BY c.file_path, c.file_version_id, c.index LIMIT ${FAILURES_LISTED_MAX}`;
}

/** Makes the failed chunks of a project due at once, and returns their number. */
export async function retryFailures(sql: Queryable, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    WITH failed AS (
      UPDATE embedding_failures SET due = now(), attempts = 1
      WHERE project_id = ${projectId} RETURNING chunk_id),
    waiting AS (
      UPDATE embedding_queue SET due = now() WHERE file_version_id IN (
        SELECT c.file_version_id FROM failed JOIN chunks c ON c.id = failed.chunk_id)
      RETURNING 1)
    SELECT count(*)::integer AS count FROM failed`;
  return row?.count ?? 0;
}

import type { Queryable } from "../../db/client.ts";
import { LineError } from "../records/line-error.ts";
import type { ActiveRelease } from "./placement.ts";

// What environments and releases are to hold is staged in tables of this session and applied when
// everything else is in. So each scope changes once, in one piece, however large the import is;
// a scope that a file fills twice ends with the last version and never shows the first; and an
// import that dies leaves every scope as it was.

/** Makes the session's own tables. */
export async function createStage(sql: Queryable): Promise<void> {
  await sql`
    CREATE TEMPORARY TABLE import_scopes (
      scope_id uuid, file_id uuid, project_id uuid NOT NULL, file_version_id uuid NOT NULL,
      is_release boolean NOT NULL, PRIMARY KEY (scope_id, file_id))`;
  await sql`CREATE TEMPORARY TABLE import_conversations (id uuid PRIMARY KEY)`;
}

export async function dropStage(sql: Queryable): Promise<void> {
  await sql`DROP TABLE IF EXISTS import_scopes, import_conversations`;
}

/** Fills a release with what the environment's working set holds at this point of the import. */
export async function stageWorkingSet(
  sql: Queryable,
  environmentId: string,
  releaseId: string,
): Promise<void> {
  const [{ conflicts } = { conflicts: 0 }] = await sql<{ conflicts: number }[]>`
    WITH working_set AS (
      SELECT file_id, file_version_id FROM import_scopes WHERE scope_id = ${environmentId}
      UNION ALL
      SELECT file_id, file_version_id FROM environment_files e WHERE environment_id = ${environmentId}
        AND NOT EXISTS (SELECT 1 FROM import_scopes s
          WHERE s.scope_id = ${environmentId} AND s.file_id = e.file_id)
    ), held AS (
      SELECT file_id, file_version_id FROM import_scopes WHERE scope_id = ${releaseId}
      UNION ALL SELECT file_id, file_version_id FROM release_files WHERE release_id = ${releaseId}
    ), staged AS (
      INSERT INTO import_scopes (scope_id, file_id, project_id, file_version_id, is_release)
      SELECT ${releaseId}, w.file_id, v.project_id, w.file_version_id, true
      FROM working_set w JOIN file_versions v ON v.id = w.file_version_id
      ON CONFLICT DO NOTHING
    )
    SELECT count(*)::integer AS conflicts FROM working_set w JOIN held h USING (file_id)
    WHERE w.file_version_id <> h.file_version_id`;
  if (conflicts > 0) {
    throw new LineError(
      `environment: the release holds other versions of ${conflicts} paths of its working set`,
    );
  }
}

/** Fills a release with what is staged for it, and freezes it, in one transaction. */
export async function applyRelease(sql: Queryable, releaseId: string): Promise<number> {
  const filled = await sql`
    INSERT INTO release_files (project_id, release_id, file_id, file_version_id)
    SELECT project_id, scope_id, file_id, file_version_id FROM import_scopes
    WHERE scope_id = ${releaseId} AND is_release
    ON CONFLICT DO NOTHING`;
  const frozen = await sql`
    UPDATE releases SET frozen_at = now() WHERE id = ${releaseId} AND frozen_at IS NULL`;
  return filled.count + frozen.count;
}

/** The environments for which something is staged. */
export async function stagedEnvironments(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT DISTINCT scope_id AS id FROM import_scopes WHERE NOT is_release ORDER BY 1`;
  return rows.map((row) => row.id);
}

/** Puts what is staged for an environment into its working set, in one transaction. */
export async function applyEnvironment(sql: Queryable, environmentId: string): Promise<number> {
  const result = await sql`
    INSERT INTO environment_files AS e (project_id, environment_id, file_id, file_version_id)
    SELECT project_id, scope_id, file_id, file_version_id FROM import_scopes
    WHERE scope_id = ${environmentId} AND NOT is_release
    ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id
    WHERE e.file_version_id <> excluded.file_version_id`;
  return result.count;
}

/** Takes the Markdown files that are not among `paths` out of an environment's working set. */
export async function pruneEnvironment(
  sql: Queryable,
  environmentId: string,
  paths: readonly string[],
): Promise<number> {
  const result = await sql`
    DELETE FROM environment_files e USING files f
    WHERE e.environment_id = ${environmentId} AND f.id = e.file_id
      AND f.path ~* '[.]mdx?$' AND f.path <> ALL (${paths as string[]}::text[])`;
  return result.count;
}

/** Points an environment to a release; undefined when the project has none of that name. */
export async function applyActiveRelease(
  sql: Queryable,
  { projectId, environmentId, release }: ActiveRelease,
): Promise<number | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM releases WHERE project_id = ${projectId} AND name = ${release}`;
  if (row === undefined) return undefined;
  const result = await sql`
    UPDATE environments SET active_release_id = ${row.id}
    WHERE id = ${environmentId} AND active_release_id IS DISTINCT FROM ${row.id}`;
  return result.count;
}

/** The next message takes message_count + 1 as its seq, so the count never lies below a seq. */
export async function countMessages(sql: Queryable): Promise<number> {
  const result = await sql`
    UPDATE conversations c
    SET message_count = greatest(c.message_count, m.count, m.last),
      last_message_at = greatest(c.last_message_at, m.at)
    FROM (
      SELECT conversation_id, count(*)::integer AS count, max(seq) AS last, max(created_at) AS at
      FROM messages WHERE conversation_id IN (SELECT id FROM import_conversations)
      GROUP BY conversation_id
    ) m
    WHERE c.id = m.conversation_id
      AND (c.message_count < greatest(m.count, m.last)
        OR c.last_message_at IS DISTINCT FROM greatest(c.last_message_at, m.at))`;
  return result.count;
}

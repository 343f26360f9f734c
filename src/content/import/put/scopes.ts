import { noteChange, noteReleases } from "../../../auth/audit/changes.ts";
import type { Queryable } from "../../../db/client.ts";
import { bytesOf, type Charging, type StoredRow } from "../../../db/quotas.ts";
import { RecordError } from "../../../documents/errors.ts";
import { AUDIT_PATHS_MAX } from "../../../domain/limits.ts";
import type { RowSet } from "./row-set.ts";

/** Rows of scopes that are put in place in one transaction, unless one scope has more. */
const IMPORT_SCOPE_ROWS = 2_000;

/** An environment's `active_release`, which is applied when the import ends. */
export interface ActiveRelease {
  /** Position of the record in the input. */
  readonly where: string;
  /** Position of the record in its batch. */
  readonly record: number;
  readonly projectId: string;
  readonly environmentId: string;
  /** Null if the environment is to serve its working set. */
  readonly release: string | null;
}

/** Names of environments by the ids of the releases that are made from them; null for files that records name. */
export type ReleaseSources = Map<string, string | null>;

/** Adds a release. The last environment that a record names counts. */
export function addRelease(releases: ReleaseSources, id: string, environment?: string | null) {
  releases.set(id, environment ?? releases.get(id) ?? null);
}

// The new contents of environments and releases are staged in temporary tables and applied when all
// other records are stored. Each scope therefore changes in one transaction, however large the import
// is. If several records set the same path, only the last version becomes visible. An import that
// fails earlier leaves every scope unchanged.

/** Creates the temporary tables of this session. */
export async function createStagingTables(sql: Queryable): Promise<void> {
  await sql`
    CREATE TEMPORARY TABLE import_scopes (
      scope_id uuid, file_id uuid, project_id uuid NOT NULL, file_version_id uuid,
      is_release boolean NOT NULL, removed boolean NOT NULL DEFAULT false, record bigint,
      PRIMARY KEY (scope_id, file_id), CHECK (removed OR file_version_id IS NOT NULL))`;
  // Numbers of the records that have changed only a scope.
  await sql`CREATE TEMPORARY TABLE import_changed (record bigint PRIMARY KEY)`;
  await sql`CREATE TEMPORARY TABLE import_conversations (id uuid PRIMARY KEY)`;
}

export async function dropStagingTables(sql: Queryable): Promise<void> {
  await sql`DROP TABLE IF EXISTS import_scopes, import_changed, import_conversations`;
}

/** Stages changes of scopes. `numberOf` returns the number of a record that has changed only a scope, by its line. */
export async function stageFiles(
  writer: Charging,
  changes: RowSet,
  numberOf: (line: number) => number | null,
): Promise<void> {
  for (const { values, lines } of changes.sorted()) {
    values["record"] = numberOf(lines.at(-1) as number)?.toString() ?? null;
  }
  const conflict = `ON CONFLICT (scope_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id,
    removed = excluded.removed, record = excluded.record`;
  await changes.upsert(writer, "import_scopes", { conflict, key: "concat(t.scope_id, t.file_id)" });
}

/** The ids of the versions that releases have of files, stored and staged, by release and path. */
export async function readReleaseFiles(
  sql: Queryable,
  releases: readonly string[],
  paths: readonly string[],
): Promise<Map<string, string>> {
  if (releases.length === 0) return new Map();
  const rows = await sql<{ place: string; version: string }[]>`
    WITH named AS (
      SELECT f.id, f.path, r.id AS release FROM releases r JOIN files f USING (project_id)
      WHERE r.id = ANY (${releases as string[]}) AND f.path = ANY (${paths as string[]}))
    SELECT concat(n.release, n.path) AS place, h.version
    FROM named n JOIN (
      SELECT scope_id AS release_id, file_id, file_version_id AS version FROM import_scopes WHERE is_release
      UNION ALL SELECT r.id, v.file_id, v.id FROM releases r
        CROSS JOIN LATERAL release_among(r.id, ARRAY (
          SELECT v.id FROM file_versions v WHERE v.file_id IN (SELECT id FROM named))) c (id)
        JOIN file_versions v ON v.id = c.id WHERE r.id = ANY (${releases as string[]})
    ) h ON h.release_id = n.release AND h.file_id = n.id`;
  return new Map(rows.map(({ place, version }) => [place, version]));
}

/** Stages the environment's current working set, stored and staged, as contents of a release. */
export async function stageWorkingSet(
  sql: Queryable,
  { environmentId, releaseId }: { readonly environmentId: string; readonly releaseId: string },
): Promise<void> {
  const [{ conflicts } = { conflicts: 0 }] = await sql<{ conflicts: number }[]>`
    WITH working_set AS (
      SELECT file_id, file_version_id FROM import_scopes
      WHERE scope_id = ${environmentId} AND NOT removed
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
    throw new RecordError(
      `environment: the release already contains other versions of ${conflicts} files of the working set`,
    );
  }
}

/** Notes the records whose staged rows are `applied`. */
const NOTE_CHANGED = `noted AS (
  INSERT INTO import_changed (record)
  SELECT DISTINCT s.record FROM applied JOIN import_scopes s USING (scope_id, file_id)
  WHERE s.record IS NOT NULL ON CONFLICT DO NOTHING
)`;

/** The number of records that have changed only a scope. */
export async function countScopeChanges(sql: Queryable): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::integer AS count FROM import_changed`;
  return row?.count ?? 0;
}

/**
 * Scopes in groups, each for one transaction: many small ones share it, because a commit takes longer than
 * a file takes to be added, and a large one has its own. They are in the order of their ids, which all imports keep.
 *
 * @param ids of releases; undefined for all environments with staged files
 */
export async function groupScopes(sql: Queryable, ids?: Iterable<string>): Promise<string[][]> {
  const counts = await sql<{ id: string; files: number }[]>`
    SELECT scope_id AS id, count(*)::integer AS files FROM import_scopes
    WHERE is_release = ${ids !== undefined} GROUP BY 1`;
  const filesOf = new Map(counts.map(({ id, files }) => [id, files]));
  const groups: string[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const id of [...(ids ?? filesOf.keys())].sort()) {
    // The scope itself is a row, too.
    const own = 1 + (filesOf.get(id) ?? 0);
    if (rows + own > IMPORT_SCOPE_ROWS) {
      groups.push([]);
      rows = 0;
    }
    groups.at(-1)?.push(id);
    rows += own;
  }
  return groups;
}

/**
 * The releases that have not been deleted since the import began, which stay until the transaction ends. They are
 * locked in the order of their ids, which all imports keep.
 */
async function lockReleases(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM releases WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
  return rows.map(({ id }) => id);
}

/** Adds the staged files to releases and freezes them. Returns the number of changed rows. */
export async function applyReleases(
  { sql, charges }: Charging,
  named: readonly string[],
  sources: ReadonlyMap<string, string | null>,
): Promise<number> {
  const ids = await lockReleases(sql, named);
  const filled = await sql<{ id: string; project: string; bytes: number }[]>`
    SELECT n.id, (SELECT project_id FROM releases WHERE id = n.id) AS project, fill_release(n.id, ARRAY(
      SELECT file_version_id FROM import_scopes WHERE scope_id = n.id AND is_release)) AS bytes
    FROM unnest(${ids}::uuid[]) AS n (id)
    WHERE EXISTS (SELECT FROM releases WHERE id = n.id AND frozen_at IS NULL)
      OR EXISTS (SELECT FROM import_scopes WHERE scope_id = n.id AND is_release)`;
  for (const { project, bytes } of filled) charges.add(project, { bytes });
  const created = filled.map(({ id }) => id);
  const environments = created.map((id) => sources.get(id) ?? null);
  await noteReleases(sql, created, environments);
  const applied = await sql`
    WITH applied AS (
      SELECT scope_id, file_id FROM import_scopes
      WHERE scope_id = ANY(${ids}) AND is_release
    ), ${sql.unsafe(NOTE_CHANGED)}
    SELECT FROM applied`;
  return filled.count + applied.count;
}

/**
 * Lets imports change working sets one after the other. Otherwise two imports of the same files could lock them in
 * different orders. Returns the environments that have not been deleted since the import began.
 */
async function lockWorkingSets(sql: Queryable, environments: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM environments WHERE id = ANY (${[...environments]}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`;
  return rows.map(({ id }) => id);
}

/** Applies the staged files to working sets. Returns the number of changed rows. */
export async function applyEnvironments(
  writer: Charging,
  named: readonly string[],
): Promise<number> {
  const { sql, charges } = writer;
  const ids = await lockWorkingSets(sql, named);
  const applied = await sql<{ project: string; count: number; bytes: number }[]>`
    WITH applied AS (
      INSERT INTO environment_files AS e (project_id, environment_id, file_id, file_version_id)
      SELECT project_id, scope_id, file_id, file_version_id FROM import_scopes
      WHERE scope_id = ANY (${ids}) AND NOT is_release AND NOT removed
      ORDER BY scope_id, file_id
      ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id
      WHERE e.file_version_id <> excluded.file_version_id
      RETURNING e.environment_id AS scope_id, e.file_id, e.project_id,
        CASE WHEN e.xmax = 0 THEN e.stored_bytes ELSE 0 END AS added
    ), ${sql.unsafe(NOTE_CHANGED)}
    SELECT project_id AS project, count(*)::integer AS count, sum(added)::float8 AS bytes
    FROM applied GROUP BY project_id`;
  let changed = await applyRemovals(writer, ids);
  for (const { project, count, bytes } of applied) {
    charges.add(project, { bytes });
    changed += count;
  }
  return changed;
}

interface Removed extends StoredRow {
  readonly path: string;
  readonly project: string;
  readonly scope: string;
  readonly environment: string;
}

/** Takes the files that are staged to be removed out of working sets. Returns their number. */
async function applyRemovals({ sql, charges }: Charging, ids: readonly string[]): Promise<number> {
  const removed = await sql<Removed[]>`
    WITH applied AS (
      DELETE FROM environment_files e USING import_scopes s
      WHERE s.scope_id = ANY (${ids as string[]}) AND s.removed
        AND e.environment_id = s.scope_id AND e.file_id = s.file_id
      RETURNING e.environment_id AS scope_id, e.file_id, e.project_id, e.stored_bytes
    ), ${sql.unsafe(NOTE_CHANGED)}
    SELECT f.path, a.stored_bytes, a.project_id AS project, e.id AS scope, e.name AS environment FROM applied a
    JOIN files f ON f.id = a.file_id JOIN environments e ON e.id = a.scope_id`;
  for (const [first, ...others] of Map.groupBy(removed, ({ scope }) => scope).values()) {
    const { project, environment, path } = first as Removed;
    charges.add(project, { bytes: -bytesOf([first as Removed, ...others]) });
    const paths = [path, ...others.map((other) => other.path)];
    const details = { environment, files: paths.length, paths: paths.slice(0, AUDIT_PATHS_MAX) };
    await noteChange(sql, "files.removed", project, details);
  }
  return removed.length;
}

const IS_MARKDOWN = "[.](md|mdx|markdown)$";
const IS_TEXT = "[.](md|mdx|markdown|txt)$";

const prunable = (text: boolean | undefined) => (text === true ? IS_TEXT : IS_MARKDOWN);

/** The paths of the Markdown files of a working set, and of the plain texts if `text` is true. */
export async function prunablePaths(
  sql: Queryable,
  environmentId: string,
  text: boolean | undefined,
): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`
    SELECT f.path FROM environment_files e JOIN files f ON f.id = e.file_id
    WHERE e.environment_id = ${environmentId} AND f.path ~* ${prunable(text)} ORDER BY f.path`;
  return rows.map(({ path }) => path);
}

/** Removes the files of `prunablePaths` that are not kept from a working set. Returns their number. */
export async function pruneEnvironment(
  { sql, charges }: Charging,
  { id, project_id: project }: { readonly id: string; readonly project_id: string },
  { paths, below }: { readonly paths: readonly string[]; readonly below: readonly string[] },
  text: boolean | undefined,
): Promise<number> {
  await lockWorkingSets(sql, [id]);
  const pruned = await sql<StoredRow[]>`
    DELETE FROM environment_files e USING files f
    WHERE e.environment_id = ${id} AND f.id = e.file_id
      AND f.path ~* ${prunable(text)} AND f.path <> ALL (${paths as string[]}::text[])
      AND NOT EXISTS (SELECT FROM unnest(${below as string[]}::text[]) b WHERE starts_with(f.path, b))
    RETURNING e.stored_bytes`;
  charges.add(project, { bytes: -bytesOf(pruned) });
  return pruned.count;
}

/**
 * Sets or, with null, ends the use of an active release. Returns how many rows changed, or undefined if the
 * project has no release with this name.
 */
export async function applyActiveRelease(
  sql: Queryable,
  { projectId, environmentId, release }: ActiveRelease,
): Promise<number | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM releases WHERE project_id = ${projectId} AND name = ${release} FOR KEY SHARE`;
  if (row === undefined && release !== null) return undefined;
  const id = row?.id ?? null;
  const result = await sql`
    UPDATE environments SET active_release_id = ${id}
    WHERE id = ${environmentId} AND active_release_id IS DISTINCT FROM ${id}`;
  return result.count;
}

/**
 * Raises the message counts of imported conversations. The next message gets message_count + 1 as its
 * seq, so the count must not be less than any seq. Returns how many rows changed.
 */
export async function raiseMessageCounts(sql: Queryable): Promise<number> {
  const result = await sql`
    WITH locked AS (
      SELECT id FROM conversations WHERE id IN (SELECT id FROM import_conversations)
      ORDER BY id FOR NO KEY UPDATE)
    UPDATE conversations c
    SET message_count = greatest(c.message_count, m.count, m.last),
      last_message_at = greatest(c.last_message_at, m.at)
    FROM (
      SELECT conversation_id, count(*)::integer AS count, max(seq) AS last, max(created_at) AS at
      FROM messages WHERE conversation_id IN (SELECT id FROM locked)
      GROUP BY conversation_id
    ) m
    WHERE c.id = m.conversation_id
      AND (c.message_count < greatest(m.count, m.last)
        OR c.last_message_at IS DISTINCT FROM greatest(c.last_message_at, m.at))`;
  return result.count;
}

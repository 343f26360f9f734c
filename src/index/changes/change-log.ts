import type { Queryable } from "../../db/client.ts";
import { databaseId } from "../../db/open.ts";
import { CHANGE_BATCH_MAX } from "../../domain/limits.ts";
import type { Position } from "../../domain/position.ts";
import type { ScopeKind, ScopeRef } from "../../domain/scope.ts";
import { timed } from "../../ops/observability/long-tasks.ts";

const CHANGE_LOG_RETENTION_DAYS = 7;

export interface Change {
  readonly seq: number;
  readonly projectId: string;
  /** `embedded`: the chunks of a file version have got embeddings. */
  readonly kind: ScopeKind | "project" | "rebuild" | "embedded";
  /** The id of the scope, project or file version. */
  readonly ref: string;
  /** When it was written, as PostgreSQL prints it. */
  readonly at: string;
  /** True for changes of the transaction that copied the project. */
  readonly isCopy: boolean;
}

/** Which entries are asked for. */
interface Entries {
  readonly projects: readonly string[];
  /** Of this scope, or of the project itself, only. */
  readonly ref?: string;
  /** At least this old. */
  readonly ageMs?: number;
}

interface ChangeRow {
  readonly seq: string;
  readonly project_id: string;
  readonly kind: Change["kind"];
  readonly ref: string;
  readonly at: string;
  readonly is_copy: boolean;
}

function changeOf(row: ChangeRow): Change {
  const { project_id: projectId, kind, ref, at, is_copy: isCopy } = row;
  return { seq: Number(row.seq), projectId, kind, ref, at, isCopy };
}

/** The change log and the scopes it refers to. Every query reads the committed state of its time. */
export class ChangeLog {
  constructor(private readonly sql: Queryable) {}

  /** Entries of a project after `seq` in order, at most CHANGE_BATCH_MAX of them. */
  async after(seq: number, projectId: string): Promise<Change[]> {
    const rows = await this.sql<ChangeRow[]>`
      SELECT seq, project_id, kind, ref, at::text AS at, is_copy FROM change_log
      WHERE seq > ${seq} AND project_id = ${projectId}
      ORDER BY seq LIMIT ${CHANGE_BATCH_MAX}`;
    return rows.map(changeOf);
  }

  /**
   * Entries after the anchor in order, at most CHANGE_BATCH_MAX of them. Null when the log does not
   * have the anchor: a standby without the last commits has taken over, or the entry was pruned.
   */
  async following({ seq, at }: Position): Promise<Change[] | null> {
    const rows = await this.sql<ChangeRow[]>`
      SELECT seq, project_id, kind, ref, at::text AS at, is_copy FROM change_log
      WHERE seq >= ${seq} ORDER BY seq LIMIT ${CHANGE_BATCH_MAX + 1}`;
    const changes = rows.map(changeOf);
    if (seq === 0) return changes;
    const [anchor, ...later] = changes;
    return anchor?.seq === seq && anchor.at === at ? later : null;
  }

  /** The position of the newest entry, or of the newest of those that are asked for. */
  async newest(of?: Entries): Promise<Position> {
    const { sql } = this;
    // The newest one of each project is read from an index, however many there are.
    const entries =
      of === undefined
        ? sql`change_log`
        : sql`unnest(${[...of.projects]}::uuid[]) AS p (id)
      CROSS JOIN LATERAL (
        SELECT seq, at FROM change_log WHERE project_id = p.id
          ${of.ref === undefined ? sql`` : sql`AND ref = ${of.ref}`}
          ${of.ageMs === undefined ? sql`` : sql`AND at < now() - make_interval(secs => ${of.ageMs / 1_000})`}
        ORDER BY seq DESC LIMIT 1) AS entry`;
    const [row] = await sql<{ seq: string; at: string }[]>`
      SELECT seq, at::text AS at FROM ${entries} ORDER BY seq DESC LIMIT 1`;
    return row === undefined ? { seq: 0, at: "" } : { seq: Number(row.seq), at: row.at };
  }

  /**
   * Compares an anchor with the log: `valid` when the log still reaches back to it, `pruned` when
   * its entries were deleted since, `mismatch` when this log never had it.
   */
  async checkAnchor(anchor: Position): Promise<"valid" | "pruned" | "mismatch"> {
    const [row] = await this.sql<{ at: string | null; oldest: string | null }[]>`
      SELECT (SELECT at::text FROM change_log WHERE seq = ${anchor.seq}) AS at,
        (SELECT min(seq) FROM change_log) AS oldest`;
    if (anchor.seq === 0) {
      return row?.oldest == null || Number(row.oldest) === 1 ? "valid" : "pruned";
    }
    if (row?.at != null) return row.at === anchor.at ? "valid" : "mismatch";
    return row?.oldest != null && Number(row.oldest) > anchor.seq ? "pruned" : "mismatch";
  }

  /** Identifies the database. A copy of its files has the same id, every other database another. */
  async databaseId(): Promise<string> {
    return await databaseId(this.sql);
  }

  /** Every scope of a project; null for an unknown project. */
  async scopesOf(projectId: string): Promise<ScopeRef[] | null> {
    const [project] = await this.sql`SELECT 1 FROM projects WHERE id = ${projectId}`;
    if (project === undefined) return null;
    return await this.sql<ScopeRef[]>`
      SELECT id, 'environment' AS kind FROM environments WHERE project_id = ${projectId}
      UNION ALL SELECT id, 'release' FROM releases WHERE project_id = ${projectId}`;
  }

  /** True if chunks of the project get their embeddings later. */
  async hasEmbedder(projectId: string): Promise<boolean> {
    const [row] = await this.sql`
      SELECT 1 FROM projects WHERE id = ${projectId} AND embedder IS NOT NULL`;
    return row !== undefined;
  }

  /** The scopes that hold one of these file versions. */
  async scopesHolding(projectId: string, versions: readonly string[]): Promise<ScopeRef[]> {
    return await this.sql<ScopeRef[]>`
      SELECT id, kind FROM scopes_holding(${projectId}, ${[...versions]}::uuid[])`;
  }

  /** The file versions of a scope; null when the project has no such scope. */
  async versionsOf(projectId: string, scope: ScopeRef): Promise<string[] | null> {
    const sql = this.sql;
    // One long string is much cheaper than a row object for each of 100,000 versions.
    const [row] = await (scope.kind === "environment"
      ? sql<{ versions: string | null }[]>`
          SELECT string_agg(f.file_version_id::text, ' ') AS versions
          FROM environments s LEFT JOIN environment_files f ON f.environment_id = s.id
          WHERE s.id = ${scope.id} AND s.project_id = ${projectId} GROUP BY s.id`
      : sql<{ versions: string | null }[]>`
          SELECT (SELECT string_agg(version::text, ' ') FROM contents_versions(s.contents_id) version) AS versions
          FROM releases s WHERE s.id = ${scope.id} AND s.project_id = ${projectId}`);
    if (row === undefined) return null;
    const { versions } = row;
    return versions === null ? [] : timed("split versions", () => versions.split(" "));
  }

  /** Asks all servers to rebuild the indexes of a project. Returns the position of the entry. */
  async requestRebuild(projectId: string): Promise<Position> {
    await this.sql`SELECT append_change(${projectId}, 'rebuild', ${projectId})`;
    // It has its number once it is committed.
    return await this.newest({ projects: [projectId], ref: projectId });
  }

  /** Projects that have changed, other than by being copied, the most recently changed first. */
  async changedProjects(): Promise<string[]> {
    const rows = await this.sql<{ project_id: string }[]>`
      SELECT project_id FROM change_log WHERE NOT is_copy
      GROUP BY project_id ORDER BY max(seq) DESC`;
    return rows.map((row) => row.project_id);
  }

  /** Deletes old entries. The newest one stays, so that anchors of an idle log remain valid. */
  async prune(): Promise<void> {
    await this.sql`
      DELETE FROM change_log WHERE at < now() - make_interval(days => ${CHANGE_LOG_RETENTION_DAYS})
      AND seq < (SELECT max(seq) FROM change_log)`;
  }
}

import type { Sql } from "../../db/client.ts";
import { step } from "../../observability/long-tasks.ts";
import { CHANGE_BATCH_MAX, CHANGE_LOG_RETENTION_DAYS } from "../../shared/limits.ts";

export type ScopeKind = "environment" | "release";

export interface Change {
  readonly seq: number;
  readonly projectId: string;
  readonly kind: ScopeKind | "project" | "rebuild";
  readonly ref: string;
  /** When it was written, as PostgreSQL spells it. */
  readonly at: string;
}

/**
 * A place in the change log of one database. The moment tells a log that was restored from a
 * backup, and grew again, from the one that the place was taken in.
 */
export interface Anchor {
  readonly seq: number;
  /** When that entry was written, as PostgreSQL spells it; "" for the empty log. */
  readonly at: string;
}

export interface Scope {
  readonly id: string;
  readonly kind: ScopeKind;
}

/** The change log and the scopes that it speaks of. Every query reads what is committed now. */
export class ChangeLog {
  constructor(private readonly sql: Sql) {}

  /** Entries after `seq` in their order, at most CHANGE_BATCH_MAX of them. */
  async after(seq: number, projectId: string | null = null): Promise<Change[]> {
    const rows = await this.sql<
      { seq: string; project_id: string; kind: Change["kind"]; ref: string; at: string }[]
    >`
      SELECT seq, project_id, kind, ref, at::text AS at FROM change_log
      WHERE seq > ${seq} AND (${projectId}::uuid IS NULL OR project_id = ${projectId})
      ORDER BY seq LIMIT ${CHANGE_BATCH_MAX}`;
    return rows.map((row) => ({
      seq: Number(row.seq),
      projectId: row.project_id,
      kind: row.kind,
      ref: row.ref,
      at: row.at,
    }));
  }

  /** The newest entry. */
  async newest(): Promise<Anchor> {
    const [row] = await this.sql<{ seq: string; at: string }[]>`
      SELECT seq, at::text AS at FROM change_log ORDER BY seq DESC LIMIT 1`;
    return row === undefined ? { seq: 0, at: "" } : { seq: Number(row.seq), at: row.at };
  }

  /**
   * What an anchor is worth here: `kept` when the log still reaches back to it, `forgotten` when
   * its entries were pruned since, `foreign` when this log never had it.
   */
  async judge(anchor: Anchor): Promise<"kept" | "forgotten" | "foreign"> {
    const [row] = await this.sql<{ at: string | null; oldest: string | null }[]>`
      SELECT (SELECT at::text FROM change_log WHERE seq = ${anchor.seq}) AS at,
        (SELECT min(seq) FROM change_log) AS oldest`;
    if (anchor.seq === 0)
      return row?.oldest == null || Number(row.oldest) === 1 ? "kept" : "forgotten";
    if (row?.at != null) return row.at === anchor.at ? "kept" : "foreign";
    return row?.oldest != null && Number(row.oldest) > anchor.seq ? "forgotten" : "foreign";
  }

  /** Identifies the database: a copy of its files has the same one, any other database another. */
  async databaseId(): Promise<string> {
    const [row] = await this.sql<{ id: string }[]>`SELECT id FROM index_origin`;
    if (row === undefined) throw new Error("the database has lost its index_origin row");
    return row.id;
  }

  /** Every scope of a project, or null when there is no such project. */
  async scopesOf(projectId: string): Promise<Scope[] | null> {
    const [project] = await this.sql`SELECT 1 FROM projects WHERE id = ${projectId}`;
    if (project === undefined) return null;
    return await this.sql<Scope[]>`
      SELECT id, 'environment' AS kind FROM environments WHERE project_id = ${projectId}
      UNION ALL SELECT id, 'release' FROM releases WHERE project_id = ${projectId}`;
  }

  /** The file versions of a scope of this project, or null when it has no such scope. */
  async versionsOf(projectId: string, scope: Scope): Promise<string[] | null> {
    const sql = this.sql;
    // One long string costs far less than a row object for each of 100,000 versions.
    const [row] = await (scope.kind === "environment"
      ? sql<{ versions: string | null }[]>`
          SELECT string_agg(f.file_version_id::text, ' ') AS versions
          FROM environments s LEFT JOIN environment_files f ON f.environment_id = s.id
          WHERE s.id = ${scope.id} AND s.project_id = ${projectId} GROUP BY s.id`
      : sql<{ versions: string | null }[]>`
          SELECT string_agg(f.file_version_id::text, ' ') AS versions
          FROM releases s LEFT JOIN release_files f ON f.release_id = s.id
          WHERE s.id = ${scope.id} AND s.project_id = ${projectId} GROUP BY s.id`);
    if (row === undefined) return null;
    const { versions } = row;
    return versions === null ? [] : step("split versions", () => versions.split(" "));
  }

  /** Projects that the log mentions, the last changed first. */
  async changedProjects(): Promise<string[]> {
    const rows = await this.sql<{ project_id: string }[]>`
      SELECT project_id FROM change_log GROUP BY project_id ORDER BY max(seq) DESC`;
    return rows.map((row) => row.project_id);
  }

  /** Forgets old entries. The newest one stays, or an idle log could not be recognised. */
  async prune(): Promise<void> {
    await this.sql`
      DELETE FROM change_log WHERE at < now() - make_interval(days => ${CHANGE_LOG_RETENTION_DAYS})
      AND seq < (SELECT max(seq) FROM change_log)`;
  }
}

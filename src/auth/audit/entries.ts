import type { Queryable } from "../../db/client.ts";
import type { PageRange } from "../../domain/page-info.ts";
import type { AuditAction } from "./actions.ts";

/** An entry of the audit log as operators see it. */
export interface AuditEntry {
  /** Later entries have higher ids. */
  readonly id: number;
  readonly at: Date;
  readonly action: AuditAction;
  readonly via: string | null;
  /** An address, or the id of a user without one. */
  readonly user: string | null;
  readonly key_prefix: string | null;
  /** A slug, or the id of a deleted project. */
  readonly project: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

/** The place of an entry in the log. */
export type EntryPosition = [id: number];

interface EntrySelection extends PageRange<EntryPosition> {
  /** Null for entries of all projects. */
  readonly projectId: string | null;
  /** Null for entries of all users. */
  readonly userId: string | null;
  readonly action?: string;
  /** Only entries from this time on. */
  readonly since?: Date;
  /** Only entries before this time. */
  readonly until?: Date;
}

/** Entries of the audit log, the newest first, or the oldest first before an id. */
export async function readAuditEntries(
  sql: Queryable,
  selection: EntrySelection,
): Promise<AuditEntry[]> {
  const { projectId, userId, action, since, until, after, before, limit } = selection;
  return await sql<AuditEntry[]>`
    SELECT a.id::float8 AS id, a.at, a.action, a.via, coalesce(u.email, a.user_id::text) AS user,
      k.key_prefix, coalesce(p.slug, a.project_id::text) AS project, a.request_id, a.details
    FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
    LEFT JOIN api_keys k ON k.id = a.key_id LEFT JOIN projects p ON p.id = a.project_id
    WHERE true
      ${projectId === null ? sql`` : sql`AND a.project_id = ${projectId}`}
      ${userId === null ? sql`` : sql`AND a.user_id = ${userId}`}
      ${action === undefined ? sql`` : sql`AND a.action = ${action}`}
      ${since === undefined ? sql`` : sql`AND a.at >= ${since}`}
      ${until === undefined ? sql`` : sql`AND a.at < ${until}`}
      ${after === undefined ? sql`` : sql`AND a.id < ${after[0]}::float8::bigint`}
      ${before === undefined ? sql`` : sql`AND a.id > ${before[0]}::float8::bigint`}
    ORDER BY a.id ${before === undefined ? sql`DESC` : sql`ASC`} LIMIT ${limit}`;
}

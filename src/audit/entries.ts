import type { Queryable } from "../db/client.ts";

export interface AuditEntry {
  readonly at: Date;
  readonly action: string;
  readonly via: string | null;
  /** The address of the user, or the id of one without. */
  readonly user: string | null;
  readonly key_prefix: string | null;
  /** The slug of the project, or the id of one that is gone. */
  readonly project: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

/** Which entries are read: those with all that is given. */
interface AuditSelection {
  readonly projectId?: string | undefined;
  readonly userId?: string | undefined;
  readonly action?: string | undefined;
  /** Entries after this time. */
  readonly since?: Date | undefined;
  /** The number of the newest entries. */
  readonly limit: number;
}

/** The newest entries of the selection, the newest last. */
export async function readAuditLog(
  sql: Queryable,
  selection: AuditSelection,
): Promise<AuditEntry[]> {
  const { projectId = null, userId = null, action = null, since = null, limit } = selection;
  const rows = await sql<AuditEntry[]>`
    SELECT a.at, a.action, a.via, coalesce(u.email, a.user_id::text) AS user, k.key_prefix,
      coalesce(p.slug, a.project_id::text) AS project, a.request_id, a.details
    FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
    LEFT JOIN api_keys k ON k.id = a.key_id LEFT JOIN projects p ON p.id = a.project_id
    WHERE (${projectId}::uuid IS NULL OR a.project_id = ${projectId})
      AND (${userId}::uuid IS NULL OR a.user_id = ${userId})
      AND (${action}::text IS NULL OR a.action = ${action})
      AND (${since}::timestamptz IS NULL OR a.at > ${since})
    ORDER BY a.id DESC LIMIT ${limit}`;
  return rows.toReversed();
}

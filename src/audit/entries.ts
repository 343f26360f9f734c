import type { Queryable } from "../db/client.ts";

/** An entry of the audit log as operators see it. */
export interface AuditEntry {
  readonly at: Date;
  readonly action: string;
  readonly via: string | null;
  /** An address, or the id of a user without one. */
  readonly user: string | null;
  readonly key_prefix: string | null;
  /** A slug, or the id of a project that is gone. */
  readonly project: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

interface EntrySelection {
  /** Null for entries of all projects, as for users. */
  readonly projectId: string | null;
  readonly userId: string | null;
  readonly action?: string;
  /** Only entries after this time. */
  readonly since?: Date;
  /** The newest entries, at most so many. */
  readonly limit: number;
}

/** Entries of the audit log, the newest last. */
export async function listAuditEntries(
  sql: Queryable,
  { projectId, userId, action, since, limit }: EntrySelection,
): Promise<AuditEntry[]> {
  const rows = await sql<AuditEntry[]>`
    SELECT a.at, a.action, a.via, coalesce(u.email, a.user_id::text) AS user, k.key_prefix,
      coalesce(p.slug, a.project_id::text) AS project, a.request_id, a.details
    FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
    LEFT JOIN api_keys k ON k.id = a.key_id LEFT JOIN projects p ON p.id = a.project_id
    WHERE (${projectId}::uuid IS NULL OR a.project_id = ${projectId})
      AND (${userId}::uuid IS NULL OR a.user_id = ${userId})
      AND (${action ?? null}::text IS NULL OR a.action = ${action ?? null})
      AND (${since ?? null}::timestamptz IS NULL OR a.at > ${since ?? null})
    ORDER BY a.id DESC LIMIT ${limit}`;
  return rows.toReversed();
}

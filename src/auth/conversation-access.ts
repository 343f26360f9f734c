import type { Queryable } from "../db/client.ts";
import type { Principal } from "./principal.ts";

/**
 * The condition under which a caller reaches a conversation, over the alias `c` of a query: one of
 * a project belongs to the project's members, one without to its maker alone, and a credential
 * bound to a project reaches that project's only.
 */
export function reachesConversation(sql: Queryable, { userId, projectId }: Principal) {
  return sql`
    CASE WHEN c.project_id IS NULL
      THEN lower(c.created_by) = ${userId} AND ${projectId}::uuid IS NULL
      ELSE (${projectId}::uuid IS NULL OR c.project_id = ${projectId}::uuid) AND EXISTS (
        SELECT 1 FROM memberships m WHERE m.user_id = ${userId}::uuid AND m.project_id = c.project_id)
    END`;
}

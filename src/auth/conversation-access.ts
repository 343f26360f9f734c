import type { Queryable } from "../db/client.ts";
import type { Principal } from "./principal.ts";

/**
 * The SQL condition under which a caller has access to the conversation with the alias `c`. Members of its project have
 * access. A conversation without a project is accessible to its creator only. A credential that is bound to a project
 * has access to that project's conversations only.
 */
export function reachesConversation(sql: Queryable, { userId, projectId }: Principal) {
  return sql`
    CASE WHEN c.project_id IS NULL
      THEN lower(c.created_by COLLATE "C") = ${userId} AND ${projectId}::uuid IS NULL
      ELSE (${projectId}::uuid IS NULL OR c.project_id = ${projectId}::uuid) AND EXISTS (
        SELECT 1 FROM memberships m WHERE m.user_id = ${userId}::uuid AND m.project_id = c.project_id)
    END`;
}

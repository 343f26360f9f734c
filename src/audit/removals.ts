import type { Queryable } from "../db/client.ts";

/** Notes in the audit log that files were removed from a project, by the actor of this transaction. */
export async function noteRemoval(
  sql: Queryable,
  projectId: string,
  details: object,
): Promise<void> {
  await sql`
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
    SELECT 'files.removed', actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
      actor->>'request_id', ${projectId}, ${JSON.stringify(details)}::text::jsonb
    FROM audit_actor() actor`;
}

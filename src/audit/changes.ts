import type { Queryable } from "../db/client.ts";

type Action =
  | "file.written"
  | "files.removed"
  | "release.created"
  | "environment.activated"
  | "project.changed";

/** Notes a change of a project in the audit log, by the actor of this transaction. */
export async function noteChange(
  sql: Queryable,
  action: Action,
  projectId: string,
  details: object,
): Promise<void> {
  await sql`
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
    SELECT ${action}, actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
      actor->>'request_id', ${projectId}, ${JSON.stringify(details)}::text::jsonb
    FROM audit_actor() actor`;
}

import type { Queryable } from "../../db/client.ts";
import type { AuditAction } from "./actions.ts";

/** The actions that are recorded without a trigger, because many statements make one change. */
type NotedAction = Extract<
  AuditAction,
  "file.written" | "files.removed" | "embeddings.rebuilt" | "import"
>;

/** Notes a change of projects that are not being deleted in the audit log, by the actor of this transaction. */
export async function noteChange(
  sql: Queryable,
  action: NotedAction,
  projectIds: string | readonly string[],
  details: object,
): Promise<void> {
  const ids = [projectIds].flat();
  await sql`
    SELECT note_change(${action}, id, ${JSON.stringify(details)}::text::jsonb)
    FROM projects WHERE id = ANY (${ids}::uuid[]) AND lock_project(id)`;
}

/** Records created releases by their ids, each with the environment that it holds the files of, or null. */
export async function noteReleases(
  sql: Queryable,
  ids: readonly string[],
  environments: readonly (string | null)[],
): Promise<void> {
  await sql`
    SELECT note_change(${"release.created" satisfies AuditAction}, r.project_id,
      jsonb_strip_nulls(jsonb_build_object('release', r.name, 'files', coalesce(c.files, 0),
        'environment', n.environment)))
    FROM unnest(${[...ids]}::uuid[], ${[...environments]}::text[]) AS n (id, environment)
    JOIN releases r ON r.id = n.id LEFT JOIN release_contents c ON c.id = r.contents_id`;
}

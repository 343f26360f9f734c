import { actorOf, transactionAs } from "../../audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { findOwnedProject, holdOwnedProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { bytesOf, count, type StoredRow } from "../../db/quotas.ts";
import { invalid } from "../../problem/problem.ts";
import { PROJECT_COPY_TIMEOUT_MS } from "../../shared/limits.ts";
import { removeProject } from "./manage.ts";
import type { Project, ProjectChange } from "./schema.ts";
import { fingerprintOf, getProject, type ProjectServices } from "./service.ts";

export interface ChangeCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly reference: string;
}

/**
 * Changes a project. Throws `project-not-found`, `permission-denied` for all but owners, and
 * `embedder-mismatch` if its chunks have another embedder.
 */
export async function updateProject(
  { sql, embedders }: ProjectServices,
  { principal, requestId, reference }: ChangeCall,
  change: ProjectChange,
): Promise<Project> {
  const { name = null, description = null }: Partial<Record<keyof ProjectChange, string | null>> =
    change;
  const embedder = fingerprintOf(embedders, change.embedder);
  return await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id } = await holdOwnedProject(tx, principal, reference);
    const changed = await tx<StoredRow[]>`
      UPDATE projects p SET name = coalesce(${name}, p.name), embedder = coalesce(${embedder}, p.embedder),
        description = coalesce(${description}, p.description), updated_at = now()
      FROM (SELECT * FROM projects WHERE id = ${id} FOR NO KEY UPDATE) old
      WHERE p.id = old.id AND (p.name <> ${name} OR p.description IS DISTINCT FROM
        coalesce(${description}, p.description) OR p.embedder IS DISTINCT FROM
        coalesce(${embedder}, p.embedder))
      RETURNING p.stored_bytes - old.stored_bytes AS stored_bytes`;
    await count(tx, id, { bytes: bytesOf(changed) });
    return await getProject(tx, principal, id);
  });
}

/**
 * Deletes a project with everything in it, in one transaction, which the change log announces to all nodes.
 * Throws `project-not-found`, `permission-denied` for all but owners, and `validation-failed` unless
 * `confirmed` is the slug.
 */
export async function deleteOwnedProject(
  sql: Sql,
  { principal, requestId, reference }: ChangeCall,
  confirmed: string,
): Promise<void> {
  await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id, slug } = await findOwnedProject(tx, principal, reference);
    if (confirmed !== slug) {
      throw invalid([{ field: "confirm", message: "must be the slug of the project" }]);
    }
    await tx.unsafe(`SET LOCAL statement_timeout = ${PROJECT_COPY_TIMEOUT_MS}`);
    await removeProject(tx, id);
  });
}

import { actorOf, transactionAs } from "../../auth/audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  findOwnedProject,
  holdOwnedProject,
  type holdWritableProject,
} from "../../auth/project-access.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { beginDeletion } from "../../db/project-lock.ts";
import { bytesOf, count, type StoredRow } from "../../db/quotas.ts";
import { PROJECT_COPY_TIMEOUT_MS } from "../../domain/limits.ts";
import { invalid } from "../../domain/problem/problem.ts";
import { embedderName, type ProjectEmbedders } from "../../embed/embedders/project-embedders.ts";
import { requestRebuild, withdrawRebuild } from "../embeddings/rebuild-requests.ts";
import { fingerprintOf as ownFingerprint } from "../embeddings/store.ts";
import type { Project, ProjectChange } from "./schema.ts";
import { fingerprintOf, getProject, type ProjectServices } from "./service.ts";

export interface ChangeCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly params: { readonly project_reference: string };
}

/** Lets the statements of a transaction take as long as a copy of a project. Those of the operator have no limit. */
async function allowLongStatements(tx: Transaction, { isOperator }: Principal): Promise<void> {
  if (isOperator) return;
  await tx.unsafe(`SET LOCAL statement_timeout = ${PROJECT_COPY_TIMEOUT_MS}`);
}

/**
 * Runs a change of the parts of a project in one transaction, which may take as long as a copy of the project.
 *
 * @param hold checks the right of the caller, and keeps the project from being deleted meanwhile
 */
export async function changing<T>(
  sql: Sql,
  { principal, requestId, params }: ChangeCall,
  hold: typeof holdWritableProject,
  work: (tx: Transaction, projectId: string) => Promise<T>,
): Promise<T> {
  return await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id } = await hold(tx, principal, params.project_reference);
    await allowLongStatements(tx, principal);
    return await work(tx, id);
  });
}

/**
 * The fingerprint of the embedder that is to embed a project again: the named one, or else its own. Throws
 * `validation-failed`.
 */
async function rebuildEmbedder(
  tx: Transaction,
  embedders: ProjectEmbedders,
  id: string,
  named: string | null,
): Promise<string> {
  const own = named ?? (await ownFingerprint(tx, id));
  if (own === null) {
    throw invalid([
      { field: "embedder", message: "is required, because the project has no embedder" },
    ]);
  }
  return named ?? (fingerprintOf(embedders, embedderName(own)) as string);
}

/**
 * Changes a project, and requests that its chunks are embedded again. Throws `project-not-found`, `permission-denied` for
 * all but owners, `validation-failed`, and `embedder-mismatch` if its chunks have another embedder and stay.
 */
export async function updateProject(
  { sql, embedders }: ProjectServices,
  { principal, requestId, params }: ChangeCall,
  change: ProjectChange,
): Promise<Project> {
  const { name = null, description = null }: { name?: string | null; description?: string | null } =
    change;
  const named = fingerprintOf(embedders, change.embedder);
  const embedder = change.rebuild ? null : named;
  const actor = actorOf(principal, requestId);
  return await transactionAs(sql, actor, async (tx) => {
    const { id } = await holdOwnedProject(tx, principal, params.project_reference);
    const changed = await tx<StoredRow[]>`
      UPDATE projects p SET name = coalesce(${name}, p.name), embedder = coalesce(${embedder}, p.embedder),
        description = coalesce(${description}, p.description), updated_at = now()
      FROM (SELECT * FROM projects WHERE id = ${id} FOR NO KEY UPDATE) old
      WHERE p.id = old.id AND (p.name <> ${name} OR p.description IS DISTINCT FROM
        coalesce(${description}, p.description) OR p.embedder IS DISTINCT FROM
        coalesce(${embedder}, p.embedder))
      RETURNING p.stored_bytes - old.stored_bytes AS stored_bytes`;
    await count(tx, id, { bytes: bytesOf(changed) });
    if (change.rebuild) {
      await requestRebuild(tx, id, await rebuildEmbedder(tx, embedders, id, named), actor);
    } else if (embedder !== null) await withdrawRebuild(tx, id);
    return await getProject(tx, principal, id);
  });
}

/** Deletes a project with everything in it. Throws `project-not-found` when another transaction does. */
export async function removeProject(sql: Queryable, id: string): Promise<void> {
  await beginDeletion(sql, id);
  await sql`DELETE FROM projects WHERE id = ${id}`;
}

/**
 * Deletes a project with everything in it, in one transaction, which the change log announces to all nodes.
 * Throws `project-not-found`, `permission-denied` for all but owners, and `validation-failed` unless
 * `confirmed` is the slug.
 */
export async function deleteOwnedProject(
  sql: Sql,
  { principal, requestId, params }: ChangeCall,
  confirmed: string,
): Promise<void> {
  await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id, slug } = await findOwnedProject(tx, principal, params.project_reference);
    if (confirmed !== slug) {
      throw invalid([{ field: "confirm", message: "must be the slug of the project" }]);
    }
    await allowLongStatements(tx, principal);
    await removeProject(tx, id);
  });
}

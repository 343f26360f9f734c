import { Problem } from "../domain/problem/problem.ts";
import type { Queryable } from "./client.ts";

/**
 * Keeps a project from being deleted until this transaction ends. Every transaction that writes to a project
 * begins with it. Throws `project-not-found`, also while the project is being deleted.
 */
export async function holdProject(tx: Queryable, id: string): Promise<void> {
  const [row] = await tx<{ held: boolean }[]>`SELECT lock_project(${id}) AS held`;
  if (row?.held !== true) throw gone();
}

/** The problem of a project that the caller could reach if it existed. */
export function gone(): Problem {
  const detail = "The project does not exist, or is being deleted.";
  return new Problem("project-not-found", { detail });
}

/** Holds several projects as `holdProject` does. Returns false if one of them does not exist or is being deleted. */
export async function holdProjects(tx: Queryable, ids: readonly string[]): Promise<boolean> {
  const rows = await tx<{ held: boolean }[]>`
    SELECT lock_project(id) AS held FROM unnest(${[...ids]}::uuid[]) AS id`;
  return rows.every(({ held }) => held);
}

/**
 * Lets changes of a project's members and invitations follow one another, so that each sees the owners and the
 * invitations that are left.
 */
export async function lockMembers(tx: Queryable, id: string): Promise<void> {
  await tx`SELECT 1 FROM projects WHERE id = ${id} FOR NO KEY UPDATE`;
}

/**
 * Waits until no other transaction writes to a project, and refuses those that begin before this one ends.
 * Throws `project-not-found`, also when another transaction is deleting the project.
 */
export async function beginDeletion(tx: Queryable, id: string): Promise<void> {
  const [row] = await tx<{ begun: boolean }[]>`SELECT begin_project_deletion(${id}) AS begun`;
  if (row?.begun !== true) throw gone();
}

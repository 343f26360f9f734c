import type { Sql } from "../db/client.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";

export interface Project {
  readonly id: string;
  readonly slug: string;
}

/** The project with this slug, or undefined. */
export async function projectBySlug(sql: Sql, slug: string): Promise<Project | undefined> {
  const [project] = await sql<Project[]>`SELECT id, slug FROM projects WHERE slug = ${slug}`;
  return project;
}

/** Finds a project by its slug or id. Throws a CommandError if there is none. */
export async function findProject(sql: Sql, reference: string): Promise<Project> {
  const [project] = await sql<Project[]>`
    SELECT id, slug FROM projects WHERE slug = ${reference} OR id::text = lower(${reference})`;
  if (project === undefined)
    throw new CommandError(`there is no project "${abbreviate(reference)}"`);
  return project;
}

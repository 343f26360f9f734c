import { projectByReference } from "../api/projects/manage.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";

export interface Project {
  readonly id: string;
  readonly slug: string;
}

/** Finds a project by its slug or id. Throws a CommandError if there is none. */
export async function findProject(sql: Sql, reference: string): Promise<Project> {
  const project = await projectByReference(sql, reference);
  if (project === undefined)
    throw new CommandError(`there is no project "${abbreviate(reference)}"`);
  return project;
}

import { type NamedProject, projectNamed } from "../auth/project-reference.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";

export type Project = NamedProject;

/** The project that a reference names. Throws a CommandError for an unknown one. */
export async function findProject(sql: Sql, reference: string): Promise<Project> {
  const project = await projectNamed(sql, reference);
  if (project === undefined)
    throw new CommandError(`there is no project "${abbreviate(reference)}"`);
  return project;
}

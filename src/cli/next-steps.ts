import { projectNamed } from "../auth/project-reference.ts";
import { FIRST_OWNER } from "../auth/users.ts";
import type { Sql } from "../db/client.ts";
import { referenceTo } from "../domain/reference.ts";
import { commandName } from "../ops/config/caller.ts";
import type { Config } from "../ops/config/schema.ts";
import { ownerOfFirstKey } from "../platform/api-keys/manage.ts";
import type { Project } from "./database.ts";
import { configOf, type Io } from "./io.ts";
import { write } from "./output.ts";
import { publicAddress } from "./service.ts";
import { passingKey } from "./users.ts";

/** The address of the user of the first API key, or else one for a new user. */
export async function defaultOwner(sql: Sql): Promise<string> {
  return (await ownerOfFirstKey(sql)) ?? FIRST_OWNER;
}

interface NextStepsOptions {
  readonly project: string;
  readonly owner?: string | undefined;
  /** True to print a new API key for the project. */
  readonly key?: boolean | undefined;
}

/** Prints how to query a project that the import has created, and the requested API key. */
export async function tellNextSteps(
  io: Io,
  sql: Sql,
  { project, owner, key }: NextStepsOptions,
  creator: string | undefined,
): Promise<void> {
  const found = await projectNamed(sql, project);
  // A rejected strict import has not created the project.
  if (found === undefined) return;
  if (creator !== undefined) write(io.stderr, firstSteps(found, creator));
  if (key === true) write(io.stderr, await newKey(sql, configOf(io), found, owner));
}

/** The first query of a project that an import has created, and the command that makes a key for it. */
function firstSteps(project: Project, owner: string): string {
  const reference = referenceTo(project);
  return `
The project ${project.slug} was created and belongs to ${owner}, whose keys reach it.
While the service runs:

  ${commandName()} lookup "your words" --project ${reference}

An API key for requests over HTTP:

  ${commandName()} keys create --user ${owner} --name laptop --project ${reference}

`;
}

/** A new key of the owner, or of a member, for a project, and a request that works with it. */
async function newKey(
  sql: Sql,
  config: Config,
  project: Project,
  owner: string | undefined,
): Promise<string> {
  const name = `import of ${project.slug}`;
  const { key, email, expiresAt } = await passingKey(sql, project, { name, email: owner });
  return `
An API key of ${email} for this project only, until ${expiresAt.toISOString().slice(0, 10)}, shown only once: ${key}

  curl -s ${publicAddress(config)}/projects/${referenceTo(project)}/knowledge/lookup -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"query": "your words"}'

`;
}

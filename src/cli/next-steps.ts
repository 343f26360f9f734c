import { issueApiKey } from "../api/api-keys/issue.ts";
import { ownerOfFirstKey } from "../api/api-keys/manage.ts";
import { FIRST_OWNER } from "../auth/users.ts";
import { commandName } from "../config/caller.ts";
import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import { referenceTo } from "../shared/reference.ts";
import { publicAddress } from "./service-address.ts";

/** The address of the user of the first API key, or else one for a new user. */
export async function defaultOwner(sql: Sql): Promise<string> {
  return (await ownerOfFirstKey(sql)) ?? FIRST_OWNER;
}

/** The command that creates a new project's first key, and requests that work with it. */
export async function nextSteps(
  sql: Sql,
  config: Config,
  project: { readonly id: string; readonly slug: string; readonly owner: string },
): Promise<string> {
  const { slug, owner } = project;
  const { key } = await issueApiKey(sql, {
    email: owner,
    name: `import of ${slug}`,
    projectId: project.id,
  });
  return `
The project ${slug} was created and belongs to ${owner}, whose keys reach it.
An API key for this project only, without an end, shown only once: ${key}

While the service runs:

  ${commandName()} lookup "your words" --project ${referenceTo(project)}
  curl -s ${publicAddress(config)}/projects/${referenceTo(project)}/knowledge/lookup -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"query": "your words"}'

`;
}

import { relative } from "node:path";
import type { Sql } from "../db/client.ts";
import { FIRST_KEY_ARGUMENTS, NO_KEY_YET } from "../domain/first-key.ts";
import { commandName } from "../ops/config/caller.ts";
import type { Config } from "../ops/config/schema.ts";
import type { Log } from "../ops/observability/log.ts";
import { hasApiKeys } from "../platform/api-keys/manage.ts";
import { type Demo, PROJECT, QUERY, RELEASE } from "./content.ts";

/** A small model for many languages. */
const MODEL = "multilingual-e5-small";

/** Creates the demo project if the configuration asks for it. Returns undefined if no demo is needed. */
export async function prepareDemo(config: Config, sql: Sql, log: Log): Promise<Demo | undefined> {
  if (!(await isNeeded(config, sql))) return undefined;
  // Most starts do not need the parsers of the import, which would take a tenth of the start to load.
  const { createDemo } = await import("./create-demo.ts");
  return await createDemo(config.dataDir, sql, log);
}

async function isNeeded(config: Config, sql: Sql): Promise<boolean> {
  if (config.demo === "off") return false;
  if (config.demo === "auto" && config.databaseUrl !== undefined) return false;
  const [row] = await sql<{ empty: boolean; exists: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM projects) AND NOT EXISTS (SELECT 1 FROM users) AS empty,
      EXISTS (SELECT 1 FROM projects WHERE slug = ${PROJECT}) AS exists`;
  return config.demo === "on" ? row?.exists === false : row?.empty === true;
}

/**
 * The message of a start for users without a key; "" once the database has keys.
 * @param baseUrl without a trailing slash
 */
export async function greeting(sql: Sql, demo: Demo | undefined, baseUrl: string): Promise<string> {
  if (demo !== undefined) return demoBanner(demo, baseUrl);
  if (await hasApiKeys(sql)) return "";
  return `
${NO_KEY_YET}

  ${commandName()} ${FIRST_KEY_ARGUMENTS}

`;
}

function demoBanner({ key, expiresAt, queryFile }: Demo, baseUrl: string): string {
  const nearby = relative(process.cwd(), queryFile);
  const path = nearby.startsWith("..") ? queryFile : nearby;
  return `
A demo project was created, with the environments production and staging and the release ${RELEASE}.

  API:            ${baseUrl}
  documentation:  ${baseUrl}/docs
  API key:        ${key}   (shown only once)
                  for your projects: it searches, changes and creates them, until ${expiresAt.toISOString().slice(0, 10)}

Search it for "${QUERY}":

  curl -s ${baseUrl}/projects/${PROJECT}/environments/production/search -H "X-API-Key: ${key}" -H "Content-Type: application/json" --data-binary ${shellQuoted(`@${path}`)}

To search for something else: ${commandName()} search "your words" --project ${PROJECT}
To search it by meaning, with a model on this machine: ${commandName()} models pull ${MODEL} --project ${PROJECT}
Set DEMO=off to start without a demo project.

`;
}

function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

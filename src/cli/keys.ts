import { Command } from "commander";
import { generateKey, parseKey } from "../auth/key-format.ts";
import { PERMISSIONS } from "../auth/principal.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { transaction } from "../db/transaction.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { API_KEY_SCOPE_MAX_CHARS, API_KEY_SCOPES_MAX } from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { collect, email, futureMoment, keyName } from "./options.ts";
import { findOrCreateUser } from "./users.ts";

interface CreateOptions {
  readonly user: string;
  readonly name: string;
  readonly project?: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: Date;
}

export function keysCommand(): Command {
  const create = new Command("create")
    .description("Create an API key and print it, once, alone on the last line.")
    .requiredOption("--user <email>", "whom the key acts as; created when unknown", email)
    .requiredOption("--name <name>", "what the key is for", keyName)
    .option("--project <slug>", "the only project that the key reaches")
    .option("--scope <permission>", "a permission of the key; repeat for more", collect)
    .option(
      "--expires-at <moment>",
      "when it stops working, e.g. 2030-01-31T12:00:00Z",
      futureMoment,
    )
    .addHelpText(
      "after",
      `
Without --scope the key holds all of the user's permissions except account.*. Permissions:
${Object.entries(PERMISSIONS)
  .map(([name, meaning]) => `  ${name.padEnd(24)} ${meaning}`)
  .join("\n")}

Only a hash of the key is stored: nobody can print it again.

Examples:
  bun run tessera keys create --user ada@example.com --name laptop
  bun run tessera keys create --user ci@example.com --name ci --project docs --scope search.query
  KEY=$(bun run tessera keys create --user ada@example.com --name script | tail -n 1)`,
    )
    .action(async (options: CreateOptions) => {
      const key = await withDatabase((sql) => createKey(sql, options, notice));
      process.stdout.write(`${key}\n`);
    });
  return new Command("keys").description("Manage API keys.").addCommand(create);
}

function notice(line: string): void {
  process.stderr.write(`tessera: ${line}\n`);
}

/** Stores a new key and returns it. */
export async function createKey(
  sql: Sql,
  { user: address, name, project, scope = [], expiresAt }: CreateOptions,
  tell: (line: string) => void,
): Promise<string> {
  if (scope.length > API_KEY_SCOPES_MAX) {
    throw new CommandError(`a key can have at most ${API_KEY_SCOPES_MAX} scopes`);
  }
  for (const one of scope) requireScope(one, tell);
  const key = generateKey();
  const parsed = parseKey(key);
  if (parsed === undefined) throw new Error("the generated key does not have the form of a key");
  await transaction(sql, async (tx) => {
    const projectId = project === undefined ? null : await findProject(tx, project);
    const user = await findOrCreateUser(tx, address);
    if (user.created) tell(`created the user ${address}`);
    if (projectId !== null && !(await isMember(tx, projectId, user.id))) {
      tell(`${address} is no member of this project: the key reaches nothing until they are`);
    }
    await tx`
      INSERT INTO api_keys (id, user_id, project_id, name, key_prefix, key_hash, scopes, expires_at)
      VALUES (${crypto.randomUUID()}, ${user.id}, ${projectId}, ${name}, ${parsed.keyPrefix},
        ${parsed.hash}, ${[...new Set(scope)]}, ${expiresAt ?? null})`;
  });
  return key;
}

/** Scopes of other versions are no mistake, but a misspelt one should be seen. */
function requireScope(scope: string, tell: (line: string) => void): void {
  if (scope === "" || scope.length > API_KEY_SCOPE_MAX_CHARS || /[\s\0]/.test(scope)) {
    throw new CommandError(
      `a scope is a permission name of 1 to ${API_KEY_SCOPE_MAX_CHARS} characters without spaces`,
    );
  }
  if (!(scope in PERMISSIONS))
    tell(`"${abbreviate(scope)}" is no permission that this version knows`);
}

async function findProject(sql: Queryable, slug: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    SELECT id FROM projects WHERE slug = ${slug} OR id::text = lower(${slug})`;
  if (row === undefined) throw new CommandError(`there is no project "${abbreviate(slug)}"`);
  return row.id;
}

async function isMember(sql: Queryable, projectId: string, userId: string): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM memberships WHERE project_id = ${projectId} AND user_id = ${userId}`;
  return row !== undefined;
}

import { Command } from "commander";
import { issueApiKey } from "../api-keys/issue.ts";
import { PERMISSIONS } from "../auth/principal.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { API_KEY_SCOPE_MAX_CHARS, API_KEY_SCOPES_MAX } from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import { collect, email, futureTime, keyName } from "./options.ts";

interface CreateOptions {
  readonly user: string;
  readonly name: string;
  readonly project?: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: Date;
}

export function keysCommand(): Command {
  const create = new Command("create")
    .description("Create an API key and print it once, alone on the last line.")
    .requiredOption("--user <email>", "user that the key acts as; created if unknown", email)
    .requiredOption("--name <name>", "name of the key", keyName)
    .option("--project <slug>", "restrict the key to this project")
    .option("--scope <permission>", "grant this permission; may be repeated", collect)
    .option("--expires-at <time>", "expiry, for example 2030-01-31T12:00:00Z", futureTime)
    .addHelpText(
      "after",
      `
Without --scope the key has all permissions of its user except account.*. Permissions:
${Object.entries(PERMISSIONS)
  .map(([name, meaning]) => `  ${name.padEnd(24)} ${meaning}`)
  .join("\n")}

Only a hash of the key is stored. The key cannot be shown again.

Examples:
  bun run tessera keys create --user ada@example.com --name laptop
  bun run tessera keys create --user ci@example.com --name ci --project docs --scope search.query
  KEY=$(bun run tessera keys create --user ada@example.com --name script | tail -n 1)`,
    )
    .action(createKey);
  return new Command("keys").description("Manage API keys.").addCommand(create);
}

async function createKey(options: CreateOptions): Promise<void> {
  const { user, name, project, scope = [], expiresAt } = options;
  if (scope.length > API_KEY_SCOPES_MAX) {
    throw new CommandError(`a key can have at most ${API_KEY_SCOPES_MAX} scopes`);
  }
  for (const permission of scope) requireScope(permission);
  const { key, userCreated, isMember } = await withDatabase(async (sql) => {
    const projectId = project === undefined ? undefined : (await findProject(sql, project)).id;
    return await issueApiKey(sql, { email: user, name, projectId, scopes: scope, expiresAt });
  });
  if (userCreated) notice(`created the user ${user}`);
  if (!isMember) {
    notice(`${user} is not a member of the project, so the key does not give access to it yet`);
  }
  process.stdout.write(`${key}\n`);
}

function notice(line: string): void {
  process.stderr.write(`tessera: ${line}\n`);
}

/** A permission may be known to another version, so an unknown one only causes a warning. */
function requireScope(scope: string): void {
  if (scope === "" || scope.length > API_KEY_SCOPE_MAX_CHARS || /[\s\0]/.test(scope)) {
    throw new CommandError(
      `a scope must be a permission name of 1 to ${API_KEY_SCOPE_MAX_CHARS} characters without spaces`,
    );
  }
  if (!(scope in PERMISSIONS)) notice(`"${abbreviate(scope)}" is not a known permission`);
}

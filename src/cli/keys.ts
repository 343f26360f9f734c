import { Command, Option } from "commander";
import { closest } from "fastest-levenshtein";
import { issueApiKey } from "../api/api-keys/issue.ts";
import { PERMISSIONS } from "../auth/principal.ts";
import { ROLES, type Role } from "../auth/roles.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { API_KEY_SCOPES_MAX } from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { keysListCommand, keysRevokeCommand, keysRotateCommand } from "./keys-manage.ts";
import { collect, email, futureTime, keyName } from "./options.ts";
import { notice, print } from "./output.ts";
import { refuseTypo, requireRole } from "./users.ts";

const USUAL_ROLE: Role = "member";

interface CreateOptions {
  readonly user: string;
  readonly name: string;
  readonly project?: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: Date;
  readonly create?: boolean;
  readonly role?: Role;
}

export function keysCommand(io: Io): Command {
  const create = new Command("create")
    .description("Create an API key and print it once, alone on the last line.")
    .requiredOption("--user <email>", "user that the key acts as; created if unknown", email)
    .requiredOption("--name <name>", "name of the key", keyName)
    .option("--project <slug>", "restrict the key to this project")
    .option("--scope <permission>", "grant this permission; may be repeated", collect)
    .addOption(
      new Option(
        "--role <role>",
        `role in the project of a user who is not yet a member (default: "${USUAL_ROLE}")`,
      ).choices(ROLES),
    )
    .option("--create", "create the user even if the address resembles that of another")
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
  ./tessera keys create --user ada@example.com --name laptop
  ./tessera keys create --user ci@example.com --name ci --project docs --scope search.query
  KEY=$(./tessera keys create --user ada@example.com --name script | tail -n 1)`,
    )
    .action((options: CreateOptions, command: Command) => {
      const { role, project } = options;
      if (role !== undefined && project === undefined) {
        command.error("error: --role requires --project");
      }
      return createKey(io, options);
    });
  return new Command("keys")
    .description("Manage API keys.")
    .addCommand(create)
    .addCommand(keysListCommand(io))
    .addCommand(keysRevokeCommand(io))
    .addCommand(keysRotateCommand(io));
}

async function createKey(io: Io, options: CreateOptions): Promise<void> {
  const { user, name, project, scope = [], expiresAt, role } = options;
  if (scope.length > API_KEY_SCOPES_MAX) {
    throw new CommandError(`a key can have at most ${API_KEY_SCOPES_MAX} scopes`);
  }
  for (const permission of scope) requireScope(permission);
  const { key, userCreated, joined } = await withDatabase(
    io,
    async (sql) => {
      if (options.create !== true) await refuseTypo(sql, user);
      const found = project === undefined ? undefined : await findProject(sql, project);
      if (found !== undefined && role !== undefined) await requireRole(sql, found, user, role);
      const projectId = found?.id;
      const restrictions = { projectId, scopes: scope, expiresAt, joinAs: role ?? USUAL_ROLE };
      return await issueApiKey(sql, { email: user, name, ...restrictions });
    },
    { writes: true, schema: "first" },
  );
  if (userCreated) notice(io, `created the user ${user}`);
  if (joined)
    notice(io, `${user} is now a member of ${project} with the role ${role ?? USUAL_ROLE}`);
  print(io, key);
}

function requireScope(scope: string): void {
  if (Object.hasOwn(PERMISSIONS, scope)) return;
  const similar = closest(scope, Object.keys(PERMISSIONS));
  throw new CommandError(
    `"${abbreviate(scope)}" is not a permission; did you mean ${similar}? \`keys create --help\` lists all`,
  );
}

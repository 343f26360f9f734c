import { type Command, Option } from "commander";
import { closest } from "fastest-levenshtein";
import { PERMISSIONS } from "../auth/principal.ts";
import { ROLES, type Role } from "../auth/roles.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../domain/abbreviate.ts";
import { API_KEY_SCOPES_MAX } from "../domain/limits.ts";
import { issueApiKey } from "../platform/api-keys/issue.ts";
import { type ListedKey, listKeys, rotateKey } from "../platform/api-keys/manage.ts";
import { type Flags, newCommand, newGroup, requireWith } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { confirm } from "./confirm.ts";
import { changeDatabase, findProject, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { Operations } from "./operations.ts";
import { collect, duration, email, futureTime, keyName } from "./options.ts";
import { type Column, notice, print, printList, shortTime } from "./output.ts";
import { refuseTypo, requireRole, requireUser } from "./users.ts";

const USUAL_ROLE: Role = "member";

const COLUMNS: readonly Column<ListedKey>[] = [
  ["key", (key) => key.key_prefix],
  ["name", (key) => key.name],
  ["user", (key) => key.user],
  ["project", (key) => key.project ?? "all"],
  ["scopes", (key) => (key.scopes.length === 0 ? "all" : key.scopes.join(","))],
  ["created", (key) => shortTime(key.created_at)],
  ["last used", (key) => shortTime(key.last_used_at)],
  ["expires", (key) => shortTime(key.expires_at)],
  ["revoked", (key) => shortTime(key.revoked_at)],
];

export function keysCommand(io: Io): Command {
  return newGroup("keys", "Manage API keys.", [
    createCommand(io),
    listCommand(io),
    revokeCommand(io),
    rotateCommand(io),
  ]);
}

interface CreateOptions {
  readonly user: string;
  readonly name: string;
  readonly project?: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: Date;
  readonly create?: boolean;
  readonly role?: Role;
}

function createCommand(io: Io): Command {
  return newCommand("keys create")
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
    .addHelpText("after", () => `\nPermissions:\n${permissionLines()}`)
    .action((options: CreateOptions, command: Command) => {
      if (options.project === undefined) requireWith(command, ["role"], "--project");
      return createKey(io, options);
    });
}

function permissionLines(): string {
  const lines = Object.entries(PERMISSIONS).map(
    ([name, meaning]) => `  ${name.padEnd(24)} ${meaning}`,
  );
  return lines.join("\n");
}

async function createKey(io: Io, options: CreateOptions): Promise<void> {
  const { user, name, project, scope = [], expiresAt, role } = options;
  if (scope.length > API_KEY_SCOPES_MAX) {
    throw new CommandError(`a key can have at most ${API_KEY_SCOPES_MAX} scopes`);
  }
  for (const permission of scope) requireScope(permission);
  const create = async (sql: Sql) => {
    if (options.create !== true) await refuseTypo(sql, user);
    const found = project === undefined ? undefined : await findProject(sql, project);
    if (found !== undefined && role !== undefined) await requireRole(sql, found, user, role);
    const rights = { projectId: found?.id, scopes: scope, joinAs: role ?? USUAL_ROLE };
    return await issueApiKey(sql, { email: user, name, expiresAt, ...rights });
  };
  const made = await withDatabase(io, create, { writes: true, schema: "first" });
  if (made.userCreated) notice(io, `created the user ${user}`);
  if (made.joined) {
    notice(io, `${user} is now a member of ${project} with the role ${role ?? USUAL_ROLE}`);
  }
  print(io, made.key);
}

function requireScope(scope: string): void {
  if (Object.hasOwn(PERMISSIONS, scope)) return;
  const similar = closest(scope, Object.keys(PERMISSIONS));
  throw new CommandError(
    `"${abbreviate(scope)}" is not a permission; did you mean ${similar}? \`keys create --help\` lists all`,
  );
}

interface ListOptions {
  readonly project?: string;
  readonly user?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

function listCommand(io: Io): Command {
  return newCommand("keys list", "json")
    .option("--project <slug>", "only keys that are bound to this project")
    .option("--user <email>", "only keys of this user", email)
    .option("--all", "revoked and expired keys too")
    .action(async ({ project, user, all, json }: ListOptions) => {
      const keys = await withDatabase(io, async (sql) => {
        const projectId = project && (await findProject(sql, project)).id;
        const userId = user && (await requireUser(sql, user)).id;
        return await listKeys(sql, { projectId, userId, all });
      });
      printList(io, keys, COLUMNS, { json, empty: "there are no such keys" });
    });
}

function revokeCommand(io: Io): Command {
  return newCommand("keys revoke", "yes")
    .argument("<key>", "its public part, tsr_<prefix>, or its id")
    .action(async (reference: string, { yes }: Flags) => {
      await changeDatabase(io, async (sql) => {
        const key = await findKey(sql, reference);
        await confirm(io, `Revoke the key ${key.key_prefix} "${key.name}" of ${key.user}?`, yes);
        const operations = await Operations.open(sql);
        await operations.call("revokeApiKey", { params: { id: key.id } });
        notice(io, `revoked ${key.key_prefix}`);
      });
    });
}

function rotateCommand(io: Io): Command {
  return newCommand("keys rotate")
    .argument("<key>", "the public part of the old key, tsr_<prefix>, or its id")
    .addOption(
      duration(
        "--grace <time>",
        "how long the old key still works, such as 90s, 30m, 24h, 7d or 0",
        "24h",
      ),
    )
    .action(async (reference: string, { grace }: { readonly grace: number }) => {
      const { old, key } = await changeDatabase(io, async (sql) => {
        const found = await findKey(sql, reference);
        return { old: found.key_prefix, key: await rotateKey(sql, found.id, grace) };
      });
      const end = shortTime(new Date(Date.now() + grace * 1_000));
      notice(io, grace === 0 ? `revoked ${old}` : `${old} works until ${end} at most`);
      print(io, key);
    });
}

/** The valid key with this id or public part. A whole key is accepted, too. */
async function findKey(sql: Sql, reference: string): Promise<ListedKey> {
  const prefix = /^(tsr_[^_]+)_/.exec(reference)?.[1] ?? reference;
  const [key] = await listKeys(sql, { reference: prefix });
  if (key !== undefined) return key;
  throw new CommandError(
    `no key "${abbreviate(prefix)}" is valid; \`./tessera keys list\` lists all`,
  );
}

import { Command } from "commander";
import { type ListedKey, listKeys, rotateKey } from "../api/api-keys/manage.ts";
import { deleteApiKey } from "../api/api-keys/service.ts";
import { OPERATOR } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";
import { confirm, yesOption } from "./confirm.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { duration, email } from "./options.ts";
import { type Column, jsonOption, notice, print, printList, shortTime } from "./output.ts";
import { requireUser } from "./users.ts";

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

interface ListOptions {
  readonly project?: string;
  readonly user?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function keysListCommand(io: Io): Command {
  return new Command("list")
    .description("List API keys, without their secrets.")
    .option("--project <slug>", "only keys that are bound to this project")
    .option("--user <email>", "only keys of this user", email)
    .option("--all", "revoked and expired keys too")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  ./tessera keys list
  ./tessera keys list --user ada@example.com --all --json`,
    )
    .action(async ({ project, user, all, json }: ListOptions) => {
      const keys = await withDatabase(io, async (sql) => {
        const projectId = project && (await findProject(sql, project)).id;
        const userId = user && (await requireUser(sql, user)).id;
        return await listKeys(sql, { projectId, userId, all });
      });
      printList(io, keys, COLUMNS, { json, empty: "there are no such keys" });
    });
}

export function keysRevokeCommand(io: Io): Command {
  return new Command("revoke")
    .description("Revoke an API key. Services refuse it within a second.")
    .argument("<key>", "its public part, tsr_<prefix>, or its id")
    .addOption(yesOption())
    .addHelpText(
      "after",
      `
Examples:
  ./tessera keys revoke tsr_sOWhT3MFNPXL`,
    )
    .action(async (reference: string, { yes }: { yes?: boolean }) => {
      await changeDatabase(io, async (sql) => {
        const key = await findKey(sql, reference);
        await confirm(io, `Revoke the key ${key.key_prefix} "${key.name}" of ${key.user}?`, yes);
        await deleteApiKey(sql, OPERATOR, "", key.id);
        notice(io, `revoked ${key.key_prefix}`);
      });
    });
}

export function keysRotateCommand(io: Io): Command {
  return new Command("rotate")
    .description("Create a key with the rights of another one, and print it once.")
    .argument("<key>", "the public part of the old key, tsr_<prefix>, or its id")
    .addOption(
      duration(
        "--grace <time>",
        "how long the old key still works, such as 90s, 30m, 24h, 7d or 0",
        "24h",
      ),
    )
    .addHelpText(
      "after",
      `
The old key works for a day unless --grace says otherwise.

Examples:
  ./tessera keys rotate tsr_sOWhT3MFNPXL
  KEY=$(./tessera keys rotate tsr_sOWhT3MFNPXL --grace 0 | tail -n 1)`,
    )
    .action(async (reference: string, { grace }: { grace: number }) => {
      const { old, key } = await changeDatabase(io, async (sql) => {
        const found = await findKey(sql, reference);
        return { old: found, key: await rotateKey(sql, found.id, grace) };
      });
      const end = new Date(Date.now() + grace * 1_000);
      notice(
        io,
        grace === 0
          ? `revoked ${old.key_prefix}`
          : `${old.key_prefix} works until ${shortTime(end)} at most`,
      );
      print(io, key);
    });
}

/** The valid key with this id or public part. A whole key is accepted, too. */
async function findKey(sql: Sql, reference: string): Promise<ListedKey> {
  const prefix = /^(tsr_[^_]+)_/.exec(reference)?.[1] ?? reference;
  const [key] = await listKeys(sql, { reference: prefix });
  if (key === undefined) {
    throw new CommandError(
      `there is no valid key "${abbreviate(prefix)}"; \`./tessera keys list\` lists all`,
    );
  }
  return key;
}

import type { Command } from "commander";
import { type AuditEntry, readAuditEntries } from "../auth/audit/entries.ts";
import type { Sql } from "../db/client.ts";
import { newCommand } from "./command.ts";
import { findProject, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { count, email, time } from "./options.ts";
import { type Column, printList, shortTime } from "./output.ts";
import { requireUser } from "./users.ts";

/** Entries that `tessera audit` prints by default. */
const AUDIT_LISTED_DEFAULT = 100;

interface Options {
  readonly project?: string;
  readonly user?: string;
  readonly action?: string;
  readonly since?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  ["time", ({ at }) => shortTime(at)],
  ["action", ({ action }) => action],
  ["by", ({ via, user, key_prefix: key }) => [user ?? via ?? "-", key].filter(Boolean).join(" ")],
  ["project", ({ project }) => project ?? "-"],
  ["details", ({ details }) => detailsText(details)],
];

export function auditCommand(io: Io): Command {
  return newCommand("audit", "json")
    .option("--project <slug>", "only entries of this project")
    .option("--user <email>", "only entries of this user", email)
    .option("--action <name>", "only this action, such as import, denied or key.revoked")
    .option("--since <time>", "only entries from this time on", time)
    .option("--limit <n>", "the newest entries", count, AUDIT_LISTED_DEFAULT)
    .action(async (options: Options) => {
      const entries = await withDatabase(io, (sql) => readEntries(sql, options));
      printList(io, entries, COLUMNS, {
        json: options.json,
        empty: "the audit log has no such entry",
      });
    });
}

async function readEntries(sql: Sql, options: Options): Promise<AuditEntry[]> {
  const { project, user, ...selection } = options;
  const projectId = project === undefined ? null : (await findProject(sql, project)).id;
  const userId = user === undefined ? null : (await requireUser(sql, user)).id;
  const newestFirst = await readAuditEntries(sql, { ...selection, projectId, userId });
  return newestFirst.toReversed();
}

function detailsText(details: Record<string, unknown>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

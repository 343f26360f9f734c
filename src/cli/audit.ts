import { Command } from "commander";
import type { Sql } from "../db/client.ts";
import { withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { count, email, pastTime } from "./options.ts";
import { type Column, jsonOption, printList, shortTime } from "./output.ts";
import { findUser } from "./users.ts";

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

interface Entry {
  readonly at: Date;
  readonly action: string;
  readonly via: string | null;
  readonly user: string | null;
  readonly key_prefix: string | null;
  readonly project: string | null;
  readonly request_id: string | null;
  readonly details: Record<string, unknown>;
}

const COLUMNS: readonly Column<Entry>[] = [
  ["time", ({ at }) => shortTime(at)],
  ["action", ({ action }) => action],
  ["by", ({ via, user, key_prefix: key }) => [user ?? via ?? "-", key].filter(Boolean).join(" ")],
  ["project", ({ project }) => project ?? "-"],
  ["details", ({ details }) => detailsText(details)],
];

export function auditCommand(io: Io): Command {
  return new Command("audit")
    .description("List imports over HTTP, denials, and changes of keys and memberships.")
    .option("--project <slug>", "only entries of this project")
    .option("--user <email>", "only entries of this user", email)
    .option("--action <name>", "only this action, such as import, denied or key.revoked")
    .option("--since <time>", "only entries after this time", pastTime)
    .option("--limit <n>", "the newest entries", count, AUDIT_LISTED_DEFAULT)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The newest entry comes last. Equal denials within ten seconds are one entry with their number.

Examples:
  ./tessera audit --project handbook --since 2026-01-31T00:00:00Z
  ./tessera audit --action denied --json`,
    )
    .action(async (options: Options) => {
      const entries = await withDatabase(io, (sql) => readEntries(sql, options));
      printList(io, entries, COLUMNS, {
        json: options.json,
        empty: "the audit log has no such entry",
      });
    });
}

async function readEntries(sql: Sql, options: Options): Promise<Entry[]> {
  const { action = null, since = null, limit } = options;
  const project = options.project === undefined ? null : await findProject(sql, options.project);
  const user = options.user === undefined ? null : await findUser(sql, options.user);
  const rows = await sql<Entry[]>`
    SELECT a.at, a.action, a.via, coalesce(u.email, a.user_id::text) AS user, k.key_prefix,
      coalesce(p.slug, a.project_id::text) AS project, a.request_id, a.details
    FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
    LEFT JOIN api_keys k ON k.id = a.key_id LEFT JOIN projects p ON p.id = a.project_id
    WHERE (${project?.id ?? null}::uuid IS NULL OR a.project_id = ${project?.id ?? null})
      AND (${user?.id ?? null}::uuid IS NULL OR a.user_id = ${user?.id ?? null})
      AND (${action}::text IS NULL OR a.action = ${action})
      AND (${since}::timestamptz IS NULL OR a.at > ${since})
    ORDER BY a.id DESC LIMIT ${limit}`;
  return rows.toReversed();
}

function detailsText(details: Record<string, unknown>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

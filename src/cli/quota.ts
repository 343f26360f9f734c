import { Command, InvalidArgumentError } from "commander";
import {
  type Limit,
  QUOTAS,
  type QuotaState,
  readQuotas,
  setQuotas,
} from "../api/projects/quota.ts";
import { withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { type Column, jsonOption, printList } from "./output.ts";

const COLUMNS: readonly Column<QuotaState>[] = [
  ["quota", ({ quota }) => quota],
  ["stored", ({ used }) => String(used)],
  ["allowed", ({ allowed }) => (allowed === null ? "any number" : String(allowed))],
];

function limit(value: string): Limit {
  if (value === "none" || value === "default") return value;
  if (!/^\d{1,15}$/.test(value)) {
    throw new InvalidArgumentError("It must be a whole number, none or default.");
  }
  return Number(value);
}

type QuotaOptions = Partial<Record<(typeof QUOTAS)[number], Limit>> & {
  readonly json?: boolean;
};

export function quotaCommand(io: Io): Command {
  const command = new Command("quota")
    .description("Print and set what a project may store.")
    .argument("<slug>", "the project");
  for (const quota of QUOTAS) {
    command.option(
      `--${quota} <n>`,
      `the most ${quota} that it may store; none for no limit, default for that of the service`,
      limit,
    );
  }
  return command
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
All versions of all files count, whatever environments and releases hold them. Each row of a project counts as 200
bytes and its texts, documents and embeddings. What would exceed a quota is refused as a whole; what is stored already
stays.

Examples:
  ./tessera projects quota handbook
  ./tessera projects quota handbook --files 10000 --bytes 1000000000
  ./tessera projects quota handbook --files none`,
    )
    .action(async (slug: string, { json, ...given }: QuotaOptions) => {
      const writes = Object.keys(given).length > 0;
      const quotas = await withDatabase(
        io,
        async (sql) => {
          const { id } = await findProject(sql, slug);
          if (writes) await setQuotas(sql, id, given);
          return await readQuotas(sql, id);
        },
        { writes },
      );
      printList(io, quotas, COLUMNS, { json, empty: "" });
    });
}

import { type Command, InvalidArgumentError } from "commander";
import { type Limit, QUOTAS, type QuotaState, setQuotas } from "../api/projects/quota.ts";
import { newCommand } from "./command.ts";
import type { Io } from "./io.ts";
import { changeProject, withProject } from "./operations.ts";
import { type Column, printList } from "./output.ts";

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
  const command = newCommand("projects quota", "json").argument("<slug>", "the project");
  for (const quota of QUOTAS) {
    command.option(
      `--${quota} <n>`,
      `the most ${quota} that it may store; none for no limit, default for that of the service`,
      limit,
    );
  }
  return command.action(async (slug: string, { json, ...given }: QuotaOptions) => {
    const isChange = Object.keys(given).length > 0;
    const open = isChange ? changeProject : withProject;
    const quotas = await open(io, slug, async ({ sql, id, call }) => {
      if (isChange) await setQuotas(sql, id, given);
      return (await call("getQuotas")) as { readonly data: QuotaState[] };
    });
    printList(io, quotas.data, COLUMNS, { json, empty: "" });
  });
}

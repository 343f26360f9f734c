import { InvalidArgumentError, Option } from "commander";
import { plannedRemovals, type Removals } from "../content/import/import-markdown.ts";
import type { Sql } from "../db/client.ts";
import { CommandError } from "./command-error.ts";
import { confirm } from "./confirm.ts";
import type { Io } from "./io.ts";
import { firstOf, notice } from "./output.ts";

/** The share of the files that `--watch --prune` removes at once, 0 to 1. */
const WATCH_PRUNE_MAX = 0.2;

export interface PruneOptions {
  readonly prune?: boolean;
  /** The share of the files that may be removed without a question, 0 to 1. */
  readonly pruneMax?: number;
  readonly yes?: boolean;
}

type Scope = Parameters<typeof plannedRemovals>[1];

export function pruneMaxOption(): Option {
  return new Option(
    "--prune-max <share>",
    "with --prune: remove up to this share of the files, such as 20%, without a question",
  ).argParser(share);
}

function share(value: string): number {
  const [, number] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(value) ?? [];
  if (number === undefined || Number(number) > 100) {
    throw new InvalidArgumentError("It must be a percentage such as 20%.");
  }
  return Number(number) / 100;
}

const percent = (value: number) => `${Number((100 * value).toFixed(1))}%`;

const question = ({ paths, of, environment }: Removals) =>
  `remove ${paths.length} of ${of} files from ${environment}?`;

/**
 * Lists the files that --prune will remove, and returns true. Throws a CommandError unless --yes, --prune-max or the
 * user on the terminal allows it.
 */
export async function confirmPrune(
  io: Io,
  sql: Sql,
  scope: Scope,
  { yes, pruneMax }: PruneOptions,
): Promise<boolean> {
  for (const removals of await plannedRemovals(sql, scope)) {
    const { paths, of } = removals;
    for (const line of firstOf(paths, "to be removed:")) notice(io, line);
    if (yes || (pruneMax !== undefined && paths.length <= pruneMax * of)) continue;
    if (pruneMax === undefined) await confirm(io, question(removals), yes);
    else throw new CommandError(`${tooMany(removals, pruneMax)}; repeat with --yes to remove them`);
  }
  return true;
}

/** Whether --prune may remove files while the folder is watched. Prints the reason if it may not. */
export async function withinPruneMax(
  io: Io,
  sql: Sql,
  scope: Scope,
  { yes, pruneMax = WATCH_PRUNE_MAX }: PruneOptions,
): Promise<boolean> {
  const all = await plannedRemovals(sql, scope);
  const excess = yes ? undefined : all.find(({ paths, of }) => paths.length > pruneMax * of);
  if (excess === undefined) return true;
  notice(io, `${tooMany(excess, pruneMax)}; they stay`);
  return false;
}

function tooMany({ paths, of, environment }: Removals, max: number): string {
  const removed = `${paths.length} of ${of} files`;
  return `--prune would remove ${removed} (${percent(paths.length / of)}) from ${environment}, more than ${percent(max)}`;
}

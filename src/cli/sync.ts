import { Command } from "commander";
import { Tessera, TesseraError } from "../../client/src/index.ts";
import { type FormatOptions, wantedKinds } from "../import/markdown/formats.ts";
import { watchFolder } from "../import/markdown/watch.ts";
import { ImportError } from "../import/records/errors.ts";
import { REMOVALS_SHOWN_MAX } from "../shared/limits.ts";
import { CommandError, ReportedError } from "./command-error.ts";
import { yesOption } from "./confirm.ts";
import { FolderSync, type SyncPlan } from "./folder-sync.ts";
import { formatOptions } from "./format-options.ts";
import { noWaitOption } from "./index-wait.ts";
import { interruptible, onInterruption } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { openConversions } from "./kept-conversions.ts";
import { url } from "./options.ts";
import { notice, print, withoutControls } from "./output.ts";
import { progressBar } from "./progress-bar.ts";
import { serviceAddress } from "./service-address.ts";
import { untilDone } from "./until-done.ts";

interface SyncOptions extends FormatOptions {
  readonly project: string;
  readonly environment: string;
  readonly url?: string;
  readonly key?: string;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly yes?: boolean;
  readonly wait: boolean;
}

export function syncCommand(io: Io): Command {
  const command = new Command("sync")
    .description("Keep a folder of documents and an environment of a project in step over HTTP.")
    .argument("<dir>", "the folder, whose .md, .mdx and .markdown files the environment is to have")
    .requiredOption("--project <slug>", "the project")
    .option("--environment <name>", "the environment", "production")
    .option("--url <url>", "address of the service; default: as for search", url)
    .option("--key <key>", "API key of an owner or editor; default: TESSERA_API_KEY")
    .option("--dry-run", "only print the plan")
    .option("--watch", "go on whenever something in the folder changes, until interrupted")
    .addOption(yesOption())
    .addOption(noWaitOption())
    .addHelpText(
      "after",
      `
The plan comes first: which files are new, changed or removed. Then they are written and removed one by one,
and what somebody else has changed meanwhile is left alone and reported. An interrupted run is continued by
the next one. Files of the environment that are not Markdown stay, but for those in .txt with --text. A folder without
any file to store removes nothing unless --yes is given.

The project's embedder embeds the files. Only HTTP is used, so the command works from anywhere.

Examples:
  ./tessera sync ./docs --project handbook --url https://search.example.com --key "$KEY"
  ./tessera sync ./docs --project handbook --dry-run
  ./tessera sync ./docs --project handbook --environment staging --watch`,
    )
    .action(async (folder: string, options: SyncOptions) => {
      const sync = openSync(io, folder, options);
      const noMore = onInterruption(io, async () => {});
      const keeps = () => "what was written stays written, and the same command does the rest";
      await interruptible(keeps, () => syncFolder(io, sync, folder, options)).finally(noMore);
    });
  for (const option of formatOptions()) command.addOption(option);
  return command;
}

async function syncFolder(
  io: Io,
  sync: FolderSync,
  folder: string,
  options: SyncOptions,
): Promise<void> {
  // Before the first run, so that no change is missed.
  const changes = options.watch
    ? await watchFolder(folder, (fault) => notice(io, withoutControls(fault)))
    : undefined;
  const failed = await explained(() => syncOnce(io, sync, options));
  if (changes !== undefined) {
    notice(io, `watching ${folder}; interrupt to end`);
    const again = () => explained(() => syncOnce(io, sync, options));
    const reasonOf = (error: Error) =>
      error instanceof CommandError || error instanceof ImportError ? error.message : undefined;
    for await (const _ of changes) await untilDone(io, again, reasonOf);
  }
  if (failed > 0) throw new ReportedError();
}

function openSync(io: Io, folder: string, options: SyncOptions): FolderSync {
  const config = configOf(io);
  const credential = options.key ?? config.apiKey;
  if (credential === undefined) {
    throw new CommandError("there is no API key: give one with --key or in TESSERA_API_KEY");
  }
  const baseUrl = options.url?.replace(/\/+$/, "") ?? serviceAddress(config);
  return new FolderSync(new Tessera({ baseUrl, credential }), {
    ...options,
    ...{ folder, conversions: openConversions(io) },
  });
}

const countsOf = ({ added, changed, removed, unchanged }: SyncPlan) =>
  `${added.length} new, ${changed.length} changed, ${removed.length} removed, ${unchanged} unchanged`;

/** Plans and carries out. Returns the number of files that failed. */
async function syncOnce(io: Io, sync: FolderSync, options: SyncOptions): Promise<number> {
  const plan = await sync.plan();
  for (const { path, reason } of plan.rejected) notice(io, `${withoutControls(path)} ${reason}`);
  for (const note of plan.skipped) notice(io, withoutControls(note));
  showPlan(io, plan);
  const steps = plan.added.length + plan.changed.length + plan.removed.length;
  if (options.dryRun || steps === 0) return plan.rejected.length;
  const isEmpty = steps === plan.removed.length && plan.unchanged === 0;
  if (isEmpty && options.yes !== true) {
    throw new CommandError(
      `there is no ${wantedKinds(options)} file in the folder; --yes removes those of the environment`,
    );
  }
  const bar = progressBar(
    io.stderr,
    "syncing {bar} {percentage}% | {value} of {total} files | {eta_formatted} left",
  );
  bar?.start(steps, 0);
  let failed = 0;
  try {
    await sync.apply(plan, {
      onStep(path, fault) {
        bar?.increment();
        if (fault === undefined) return;
        failed++;
        notice(io, `${withoutControls(path)}: ${fault}`);
      },
      onWarning: (path, message) => notice(io, `${withoutControls(path)}: ${message}`),
    });
  } finally {
    bar?.stop();
  }
  if (options.wait) await searchable(io, sync);
  notice(io, failed === 0 ? "done" : `${failed} of ${steps} steps failed; run the command again`);
  return failed + plan.rejected.length;
}

/** A file that is stored, but not searchable yet, does not count as a failure. */
async function searchable(io: Io, sync: FolderSync): Promise<void> {
  await sync.untilSearchable().catch((error: unknown) => {
    if (!(error instanceof TesseraError) || error.slug !== "index-behind") throw error;
    notice(io, `stored, but searches do not see it yet: ${error.message}`);
  });
}

function showPlan(io: Io, plan: SyncPlan): void {
  print(io, `plan: ${countsOf(plan)}`);
  for (const [kind, files] of [
    ["new", plan.added],
    ["changed", plan.changed],
    ["removed", plan.removed],
  ] as const) {
    const shown = files.slice(0, REMOVALS_SHOWN_MAX);
    for (const { path } of shown) print(io, `  ${kind} ${withoutControls(path)}`);
    if (files.length > shown.length) print(io, `  ${kind} ${files.length - shown.length} more`);
  }
}

/** Turns an error of the service into a CommandError with its message. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TesseraError) throw new CommandError(error.message);
    if (!(error instanceof TypeError) && !isNoAnswer(error)) throw error;
    throw new CommandError(`the service does not answer (${(error as Error).message})`);
  }
}

function isNoAnswer(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "string" && error instanceof Error;
}

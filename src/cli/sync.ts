import type { Command } from "commander";
import { Tessera, TesseraError } from "../../client/src/index.ts";
import { type FormatOptions, wantedKinds } from "../documents/conversion/formats.ts";
import { ImportError } from "../documents/errors.ts";
import { addOptions, type Flags, newCommand } from "./command.ts";
import { CommandError, ReportedError } from "./command-error.ts";
import { FolderSync, type SyncPlan } from "./folder-sync.ts";
import { formatOptions, openConversions, watch } from "./folders.ts";
import { interruptible, onInterruption } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { firstOf, notice, print, withoutControls } from "./output.ts";
import { withBar } from "./progress.ts";
import { addressOf, explained, type ServiceFlags } from "./service.ts";

interface SyncOptions extends Flags, FormatOptions, ServiceFlags {
  readonly dryRun?: boolean;
  readonly watch?: boolean;
}

export function syncCommand(io: Io): Command {
  const command = newCommand("sync", "project", "environment", "yes", "wait", "url", "key")
    .argument("<dir>", "the folder, whose .md, .mdx and .markdown files the environment is to have")
    .option("--dry-run", "only print the plan")
    .option("--watch", "go on whenever something in the folder changes, until interrupted")
    .action(async (folder: string, options: SyncOptions) => {
      const noMore = onInterruption(io);
      const keeps = () => "finished writes stay, and the same command does the rest";
      await interruptible(keeps, () => syncFolder(io, folder, options)).finally(noMore);
    });
  return addOptions(command, formatOptions());
}

async function syncFolder(io: Io, folder: string, options: SyncOptions): Promise<void> {
  const config = configOf(io);
  const credential = options.key ?? config.apiKey;
  if (credential === undefined) {
    throw new CommandError("an API key is missing: give one with --key or in TESSERA_API_KEY");
  }
  const baseUrl = addressOf(config, options);
  const target = { ...options, folder, conversions: openConversions(io) };
  const sync = new FolderSync(new Tessera({ baseUrl, credential }), target);
  const run = () => explained(baseUrl, () => syncOnce(io, sync, options));
  // Before the first run, so that no change is missed.
  const watching = options.watch ? await watch(io, folder, reasonOf) : undefined;
  const failed = await run();
  await watching?.(run);
  if (failed > 0) throw new ReportedError();
}

/** The service and the folder of a synchronisation may come back. */
function reasonOf(error: Error): string | undefined {
  const mayPass = error instanceof CommandError || error instanceof ImportError;
  return mayPass ? error.message : undefined;
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
  const format = "syncing {bar} {percentage}% | {value} of {total} files | {eta_formatted} left";
  let failed = 0;
  await withBar(io.stderr, format, async (bar) => {
    bar?.start(steps, 0);
    await sync.apply(plan, {
      onStep(path, fault) {
        bar?.increment();
        if (fault === undefined) return;
        failed++;
        notice(io, `${withoutControls(path)}: ${fault}`);
      },
      onWarning: (path, message) => notice(io, `${withoutControls(path)}: ${message}`),
    });
  });
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
    const paths = files.map(({ path }) => path);
    for (const line of firstOf(paths, `  ${kind}`)) print(io, line);
  }
}

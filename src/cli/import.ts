import type { Command } from "commander";
import { isParquet } from "../content/import/tables/rows.ts";
import { PASSING_KEY_DAYS } from "../platform/api-keys/issue.ts";
import { addOptions, newCommand, requireWith } from "./command.ts";
import { ReportedError } from "./command-error.ts";
import { embedderOptions, requireValidEmbedder } from "./embedder-options.ts";
import { FORMAT_OPTIONS, formatOptions } from "./folders.ts";
import type { Io } from "./io.ts";
import { columnMap, email } from "./options.ts";
import { pruneMaxOption } from "./prune.ts";
import {
  DEFAULT_ENVIRONMENT,
  type ImportOptions,
  runImport,
  STANDARD_INPUT,
} from "./run-import.ts";

const NEEDS_MARKDOWN = ["prune", "watch", ...FORMAT_OPTIONS];
const NEEDS_PRUNE = ["pruneMax", "yes"];
const NEEDS_PROJECT = [
  "project",
  "environment",
  "owner",
  "key",
  "embedder",
  "embed",
  "embedUrl",
  "embedModel",
  "embedDimension",
  "embedKeyFile",
];

export function importCommand(io: Io): Command {
  const command = newCommand("import", "yes", "wait", "create")
    .argument("[file...]", "NDJSON files, optionally .gz or .zst; - for standard input")
    .option("--strict", "import nothing if a single line or file is rejected")
    .option(
      "--markdown <path>",
      "import the .md, .mdx and .markdown files of this folder, or this file, instead",
    )
    .option(
      "--map <columns>",
      "import rows of Parquet or JSON lines, such as id=_id,text=text,embedding=emb",
      columnMap,
    )
    .option("--project <slug>", "project of the folder or the rows; created if it does not exist")
    .option(
      "--environment <name>",
      `environment to add them to (default: "${DEFAULT_ENVIRONMENT}")`,
    )
    .option(
      "--owner <email>",
      "owner of a project that is created (default: the user of the first API key)",
      email,
    )
    .option(
      "--key",
      `print a new API key for the project at the end, which expires after ${PASSING_KEY_DAYS} days`,
    )
    .option("--embedder <name>", "embedder of a project that is created, as EMBEDDERS names it")
    .option("--watch", "with --markdown: import again whenever something in the folder changes")
    .option(
      "--prune",
      "with --markdown: remove Markdown files (with --text also .txt) that the folder does not have",
    )
    .addOption(pruneMaxOption());
  return addOptions(command, [...formatOptions(), ...embedderOptions()]).action(
    async (files: string[], options: ImportOptions) => {
      requireConsistency(command, files, options);
      const summary = await runImport(io, files, options);
      if (summary.rejected > 0) throw new ReportedError();
    },
  );
}

/** Exits with a usage error if the arguments contradict each other. */
function requireConsistency(
  command: Command,
  files: readonly string[],
  options: ImportOptions,
): void {
  const { markdown, map, project } = options;
  if (markdown !== undefined && (files.length > 0 || map !== undefined)) {
    command.error("error: --markdown cannot be combined with files or --map");
  }
  if (markdown === undefined) requireWith(command, NEEDS_MARKDOWN, "--markdown");
  if (options.prune !== true) requireWith(command, NEEDS_PRUNE, "--prune");
  if (markdown !== undefined || map !== undefined) {
    if (project === undefined) command.error("error: --markdown and --map require --project");
    requireValidEmbedder(command, options);
  } else {
    requireWith(command, NEEDS_PROJECT, "--markdown or --map");
    const parquet = files.find(isParquet);
    if (parquet !== undefined) command.error(`error: ${parquet} requires --map`);
  }
  if (markdown === undefined) requireFiles(command, files);
}

function requireFiles(command: Command, files: readonly string[]): void {
  if (files.length === 0) {
    command.error("error: specify at least one file, or - for standard input");
  }
  if (files.filter((file) => file === STANDARD_INPUT).length > 1) {
    command.error("error: standard input can be read only once");
  }
}

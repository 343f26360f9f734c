import { Command } from "commander";
import { PASSING_KEY_DAYS } from "../api/api-keys/issue.ts";
import { isParquet } from "../import/tables/rows.ts";
import { ReportedError } from "./command-error.ts";
import { yesOption } from "./confirm.ts";
import { createOption } from "./database.ts";
import { embedderOptions, requireValidEmbedder } from "./embedder-options.ts";
import { FORMAT_OPTIONS, formatOptions } from "./format-options.ts";
import { noWaitOption } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { columnMap, email } from "./options.ts";
import { pruneMaxOption } from "./prune.ts";
import {
  DEFAULT_ENVIRONMENT,
  type ImportOptions,
  runImport,
  STANDARD_INPUT,
} from "./run-import.ts";

const NEEDS_MARKDOWN = ["prune", "watch", ...FORMAT_OPTIONS] as const;
const NEEDS_PRUNE = [
  ["pruneMax", "--prune-max"],
  ["yes", "--yes"],
] as const;
const NEEDS_PROJECT = [
  ["project", "--project"],
  ["environment", "--environment"],
  ["owner", "--owner"],
  ["key", "--key"],
  ["embedder", "--embedder"],
  ["embed", "--embed"],
  ["embedUrl", "--embed-url"],
  ["embedModel", "--embed-model"],
  ["embedDimension", "--embed-dimension"],
] as const;

export function importCommand(io: Io): Command {
  const command = new Command("import")
    .description("Import records from NDJSON files, tables, or a folder of documents.")
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
    .addOption(pruneMaxOption())
    .addOption(yesOption())
    .addOption(noWaitOption())
    .addOption(createOption())
    .addHelpText(
      "after",
      `
Each line of an NDJSON file is one JSON object; docs/import-format.md describes the record kinds.
The command ends when searches of a running service see what was imported.
Rejected lines are reported as FILE:LINE: reason and the others are imported; the exit status is
then 1. Importing the same records twice changes nothing, so an interrupted import can be run again.

With --map, rows become chunks: those in succession with the same id are one file, and columns that the
map does not name are metadata. Without an embedding column the texts are embedded.

--prune shows what it is going to remove and asks on a terminal. Elsewhere it needs --yes, or --prune-max
with the largest share of the files that may be removed; --yes removes any number.

All options except --strict, --no-wait and --create require --markdown or --map. Texts are embedded by the embedder of the
project. One that --markdown creates has the one that --embedder names, or \`hashing\`, which is meant for
demonstrations. With --embed or --embed-url it has none, and those embed the texts of this import; EMBED_API_KEY
is sent to the endpoint as a bearer token.

Examples:
  ./tessera import project.ndjson files.ndjson.zst
  zcat export.ndjson.gz | ./tessera import --strict -
  ./tessera import --markdown ./docs --project handbook
  ./tessera import --markdown ./notes.md --project handbook
  ./tessera import --markdown ./docs --project handbook --embed ollama
  ./tessera import points.parquet --map id=_id,text=text,embedding=emb --project handbook
  ./tessera import --markdown ./docs --project handbook --environment staging \\
    --prune --prune-max 20% \\
    --embed-url http://127.0.0.1:11434/v1/embeddings --embed-model nomic-embed-text`,
    );
  for (const option of [...formatOptions(), ...embedderOptions()]) command.addOption(option);
  return command.action(async (files: string[], options: ImportOptions) => {
    requireConsistency(command, files, options);
    const summary = await runImport(io, files, options);
    if (summary.rejected > 0) throw new ReportedError();
  });
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
  const only = NEEDS_MARKDOWN.find((name) => options[name] === true);
  if (only !== undefined && markdown === undefined) {
    command.error(`error: --${only} requires --markdown`);
  }
  const unpruned = NEEDS_PRUNE.find(([name]) => options[name] !== undefined);
  if (unpruned !== undefined && options.prune !== true) {
    command.error(`error: ${unpruned[1]} requires --prune`);
  }
  if (markdown !== undefined || map !== undefined) {
    if (project === undefined) command.error("error: --markdown and --map require --project");
    requireValidEmbedder(command, options);
  } else {
    const misplaced = NEEDS_PROJECT.find(([name]) => options[name] !== undefined);
    if (misplaced !== undefined) {
      command.error(`error: ${misplaced[1]} requires --markdown or --map`);
    }
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

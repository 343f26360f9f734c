import { stat } from "node:fs/promises";
import { Command } from "commander";
import { OPERATOR } from "../audit/actor.ts";
import type { Sql } from "../db/client.ts";
import { importMarkdown } from "../import/import-markdown.ts";
import { type ImportSummary, importRecords } from "../import/import-records.ts";
import { importTable } from "../import/import-table.ts";
import { findMarkdown } from "../import/markdown/folder.ts";
import { watchFolder } from "../import/markdown/watch.ts";
import type { ProjectFrame } from "../import/project-frame.ts";
import { readBatches } from "../import/records/batches.ts";
import { fileSource, type Source, streamSource } from "../import/records/source.ts";
import type { ColumnMap } from "../import/tables/column-map.ts";
import { isParquet, sizeOfTables } from "../import/tables/rows.ts";
import { CommandError, ReportedError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import {
  createEmbedder,
  type EmbedderOptions,
  embedderOptions,
  requireValidEmbedder,
} from "./embedder-options.ts";
import { projectBySlug } from "./find-project.ts";
import { configOf, type Io } from "./io.ts";
import { defaultOwner, nextSteps } from "./next-steps.ts";
import { columnMap, email } from "./options.ts";
import { notice } from "./output.ts";
import { Reporter } from "./reporter.ts";
import { untilEmbedded } from "./until-embedded.ts";
import { refuseTypo } from "./users.ts";

interface Options extends EmbedderOptions {
  readonly strict?: boolean;
  readonly markdown?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly owner?: string;
  readonly prune?: boolean;
  readonly watch?: boolean;
  readonly html?: boolean;
  readonly asciidoc?: boolean;
  readonly map?: ColumnMap;
}

/** The options of an import into a project that need not exist. */
interface ProjectOptions extends Options {
  readonly project: string;
}

const STANDARD_INPUT = "-";
const DEFAULT_ENVIRONMENT = "production";
const NEEDS_MARKDOWN = ["prune", "watch", "html", "asciidoc"] as const;
const NEEDS_PROJECT = [
  ["project", "--project"],
  ["environment", "--environment"],
  ["owner", "--owner"],
  ["embed", "--embed"],
  ["embedUrl", "--embed-url"],
  ["embedModel", "--embed-model"],
  ["embedDimension", "--embed-dimension"],
] as const;

export function importCommand(io: Io): Command {
  const command = new Command("import")
    .description("Import records from NDJSON files, or a folder of Markdown files.")
    .argument("[file...]", "NDJSON files, optionally .gz or .zst; - for standard input")
    .option("--strict", "import nothing if a single line or file is rejected")
    .option("--markdown <dir>", "import the .md and .mdx files of this folder instead")
    .option(
      "--map <columns>",
      "import rows of Parquet or JSON lines, such as id=_id,text=text,embedding=emb",
      columnMap,
    )
    .option("--project <slug>", "project of Markdown files or rows; created if it does not exist")
    .option(
      "--environment <name>",
      `environment to add them to (default: "${DEFAULT_ENVIRONMENT}")`,
    )
    .option(
      "--owner <email>",
      "owner of a project that is created (default: the user of the first API key)",
      email,
    )
    .option("--html", "with --markdown: also .html and .htm files, converted to Markdown")
    .option("--asciidoc", "with --markdown: also .adoc and .asciidoc files, converted to Markdown")
    .option("--watch", "with --markdown: import again whenever something in the folder changes")
    .option("--prune", "remove Markdown files that are not in the folder from the environment")
    .addHelpText(
      "after",
      `
Each line of an NDJSON file is one JSON object; docs/import-format.md describes the record kinds.
Rejected lines are reported as FILE:LINE: reason and the others are imported; the exit status is
then 1. Importing the same records twice changes nothing, so an interrupted import can be run again.

With --map, rows become chunks: those in succession with the same id are one file, and columns that the
map does not name are metadata. Without an embedding column the texts are embedded.

All options except --strict require --markdown or --map. Without --embed and --embed-url, texts are
embedded by feature hashing, which is meant for demonstrations. EMBED_API_KEY is sent to the endpoint as a
bearer token.

Examples:
  ./tessera import project.ndjson files.ndjson.zst
  zcat export.ndjson.gz | ./tessera import --strict -
  ./tessera import --markdown ./docs --project handbook
  ./tessera import --markdown ./docs --project handbook --embed ollama
  ./tessera import points.parquet --map id=_id,text=text,embedding=emb --project handbook
  ./tessera import --markdown ./docs --project handbook --environment staging --prune \\
    --embed-url http://127.0.0.1:11434/v1/embeddings --embed-model nomic-embed-text`,
    );
  for (const option of embedderOptions()) command.addOption(option);
  return command.action(async (files: string[], options: Options) => {
    requireConsistency(command, files, options);
    const summary = await runImport(io, files, options);
    if (summary.rejected > 0) throw new ReportedError();
  });
}

async function runImport(
  io: Io,
  files: readonly string[],
  options: Options,
): Promise<ImportSummary> {
  const { markdown, map, project } = options;
  if (project === undefined) return await importFiles(io, files, options.strict === true);
  if (markdown !== undefined) return await importFolder(io, markdown, { ...options, project });
  return await importRows(io, files, map as ColumnMap, { ...options, project });
}

/** Exits with a usage error if the arguments contradict each other. */
function requireConsistency(command: Command, files: readonly string[], options: Options): void {
  const { markdown, map, project } = options;
  if (markdown !== undefined && (files.length > 0 || map !== undefined)) {
    command.error("error: --markdown cannot be combined with files or --map");
  }
  const only = NEEDS_MARKDOWN.find((name) => options[name] === true);
  if (only !== undefined && markdown === undefined) {
    command.error(`error: --${only} requires --markdown`);
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

async function importFiles(
  io: Io,
  files: readonly string[],
  strict: boolean,
): Promise<ImportSummary> {
  const sources: Source[] = [];
  for (const file of files) sources.push(await sourceOf(io, file));
  const sizes = sources.map(({ size }) => size);
  const total = sizes.includes(null) ? null : sizes.reduce<number>((sum, n) => sum + (n ?? 0), 0);
  return await withDatabase(io, (sql) =>
    reported(io, new Reporter(io.stderr, total, "bytes"), strict, (reporter) => {
      const batches = readBatches(sources, {
        onRead: (bytes) => reporter.advance(bytes),
        onUnknownField: (where, field) => reporter.unknownField(where, field),
      });
      return importRecords(sql, batches, {
        actor: OPERATOR,
        strict,
        onRejected: (where, reason) => reporter.report(where, reason),
        onBatch: (imported) => reporter.addRecords(imported),
      });
    }),
  );
}

async function sourceOf(io: Io, file: string): Promise<Source> {
  if (file === STANDARD_INPUT) return streamSource(file, io.stdin);
  const info = await stat(file).catch(() => undefined);
  if (info?.isDirectory()) {
    throw new CommandError(`${file} is a folder: use --markdown to import a folder`);
  }
  return await fileSource(file);
}

async function importFolder(
  io: Io,
  folder: string,
  options: ProjectOptions,
): Promise<ImportSummary> {
  const embedder = createEmbedder(io, options);
  const once = async (sql: Sql, frame: ProjectFrame) => {
    const { paths, rejected } = findMarkdown(folder, options);
    return await reported(
      io,
      new Reporter(io.stderr, paths.length, "files"),
      options.strict,
      (reporter) => {
        for (const { path, reason } of rejected) reporter.report(path, reason);
        const work = { ...options, ...frame, folder, paths, embedder };
        return importMarkdown(sql, work, {
          onFile: () => reporter.advance(1),
          onReport: (path, reason) => reporter.report(path, reason),
          onBatch: (imported) => reporter.addRecords(imported),
        });
      },
    );
  };
  if (findMarkdown(folder, options).paths.length === 0 && options.watch !== true) {
    throw new CommandError(`there is no .md or .mdx file in ${folder}`);
  }
  // Before the first import, so that no change is missed.
  const changes = options.watch ? await watchFolder(folder) : undefined;
  return await intoProject(io, options, once, async (sql, frame) => {
    if (changes === undefined) return;
    notice(io, `watching ${folder}; interrupt to end`);
    for await (const _ of changes) await untilEmbedded(io, () => once(sql, frame));
  });
}

async function importRows(
  io: Io,
  files: readonly string[],
  columns: ColumnMap,
  options: ProjectOptions,
): Promise<ImportSummary> {
  const embedder = createEmbedder(io, options);
  const strict = options.strict === true;
  const total = await sizeOfTables(files);
  return await intoProject(io, options, (sql, frame) =>
    reported(io, new Reporter(io.stderr, total, "bytes"), strict, (reporter) =>
      importTable(
        sql,
        { ...frame, files, columns, embedder, strict },
        {
          onRead: (bytes) => reporter.advance(bytes),
          onReport: (where, reason) => reporter.report(where, reason),
          onBatch: (imported) => reporter.addRecords(imported),
        },
      ),
    ),
  );
}

/** Imports into a project. If it is new, what to do next is printed. Then `andThen` runs. */
async function intoProject(
  io: Io,
  options: ProjectOptions,
  work: (sql: Sql, frame: ProjectFrame) => Promise<ImportSummary>,
  andThen: (sql: Sql, frame: ProjectFrame) => Promise<void> = async () => {},
): Promise<ImportSummary> {
  const { project, environment = DEFAULT_ENVIRONMENT } = options;
  return await withDatabase(io, async (sql) => {
    const isNew = (await projectBySlug(sql, project)) === undefined;
    if (options.owner !== undefined && isNew) await refuseTypo(sql, options.owner);
    const owner = options.owner ?? (await defaultOwner(sql));
    const frame = { project, owner, environments: [environment] };
    const summary = await work(sql, frame);
    const created = isNew ? await projectBySlug(sql, project) : undefined;
    if (created !== undefined) {
      io.stderr.write(await nextSteps(sql, configOf(io), { ...created, owner }));
    }
    await andThen(sql, frame);
    return summary;
  });
}

/** Runs an import and prints its summary. */
async function reported(
  io: Io,
  reporter: Reporter,
  strict: boolean | undefined,
  work: (reporter: Reporter) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  try {
    const summary = await work(reporter);
    reporter.stop();
    io.stdout.write(reporter.summary(summary, strict === true));
    return summary;
  } finally {
    reporter.stop();
  }
}

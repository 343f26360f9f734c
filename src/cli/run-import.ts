import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { OPERATOR } from "../auth/audit/actor.ts";
import { projectNamed } from "../auth/project-reference.ts";
import type { ImportDestination } from "../content/import/destination.ts";
import { settledScan } from "../content/import/files/watch.ts";
import { importMarkdown } from "../content/import/import-markdown.ts";
import { importRecords } from "../content/import/import-records.ts";
import type { ImportSummary } from "../content/import/import-summary.ts";
import { importTable } from "../content/import/import-table.ts";
import { readBatches } from "../content/import/records/batches.ts";
import { fileSource, type Source, streamSource } from "../content/import/records/source.ts";
import type { ColumnMap } from "../content/import/tables/column-map.ts";
import { sizeOfTables } from "../content/import/tables/rows.ts";
import { findWorkingSet } from "../content/scopes/working-set.ts";
import type { Sql } from "../db/client.ts";
import { databaseName } from "../db/open.ts";
import { findMarkdown, skippedIn } from "../documents/conversion/folder.ts";
import { type FormatOptions, wantedKinds } from "../documents/conversion/formats.ts";
import { ImportError } from "../documents/errors.ts";
import { isMarkdownPath } from "../documents/markdown/index.ts";
import type { Embedder } from "../embed/embedders/embedder.ts";
import { EmbeddingError } from "../embed/embedders/embedding-response.ts";
import { fingerprintsOf } from "../embed/embedders/project-embedders.ts";
import { CommandError } from "./command-error.ts";
import { configuredEmbedders } from "./configured-embedder.ts";
import { withDatabase } from "./database.ts";
import { type EmbedderOptions, explainEmbeddingError } from "./embedder-options.ts";
import { openConversions, watch } from "./folders.ts";
import { chooseEmbedder, warnOfMixedEmbedders } from "./import-embedder.ts";
import { untilSearchable } from "./index-wait.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { defaultOwner, tellNextSteps } from "./next-steps.ts";
import { notice, print, withoutControls } from "./output.ts";
import { confirmPrune, type PruneOptions, withinPruneMax } from "./prune.ts";
import { Reporter } from "./reporter.ts";
import { refuseTypo, requireOwner } from "./users.ts";

export interface ImportOptions extends EmbedderOptions, PruneOptions, FormatOptions {
  readonly strict?: boolean;
  /** False not to wait until searches see the change. */
  readonly wait?: boolean;
  readonly create?: boolean;
  readonly markdown?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly owner?: string;
  /** True to print a new API key for the project. */
  readonly key?: boolean;
  readonly watch?: boolean;
  readonly map?: ColumnMap;
  /** The embedder of a project that is created. */
  readonly embedder?: string | undefined;
}

/** The options of an import into a project that need not exist. */
interface ProjectOptions extends ImportOptions {
  readonly project: string;
}

export const STANDARD_INPUT = "-";
export const DEFAULT_ENVIRONMENT = "production";

/** Runs the import that consistent arguments describe, and prints its summary. */
export async function runImport(
  io: Io,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const { markdown, map, project } = options;
  if (project === undefined) return await importFiles(io, files, options);
  if (markdown !== undefined) return await importFolder(io, markdown, { ...options, project });
  return await importRows(io, files, map as ColumnMap, { ...options, project });
}

async function importFiles(
  io: Io,
  files: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const sources: Source[] = [];
  for (const file of files) sources.push(await sourceOf(io, file));
  const sizes = sources.map(({ size }) => size);
  const total = sizes.includes(null) ? null : sizes.reduce<number>((sum, n) => sum + (n ?? 0), 0);
  const embedders = fingerprintsOf(await configuredEmbedders(io));
  const work = (sql: Sql) =>
    reported(io, sql, new Reporter(io.stderr, total, "bytes"), options, (reporter) => {
      const { onReport, onUnscoped, onBatch, onFinishing } = reporter;
      return importRecords(sql, readBatches(sources, reporter), {
        actor: OPERATOR,
        embedders,
        strict: options.strict === true,
        onRejected: onReport,
        onWarning: onReport,
        onUnscoped,
        onBatch,
        onFinishing,
      });
    });
  return await withDatabase(io, work, { create: options.create, schema: "first" });
}

async function sourceOf(io: Io, file: string): Promise<Source> {
  if (file === STANDARD_INPUT) return streamSource(file, io.stdin);
  const info = await stat(file).catch(() => undefined);
  if (info?.isDirectory()) {
    throw new CommandError(`${file} is a folder: use --markdown to import a folder`);
  }
  if (isMarkdownPath(file)) {
    throw new CommandError(`${file} is not NDJSON: use --markdown to import a Markdown file`);
  }
  return await fileSource(file);
}

async function importFolder(
  io: Io,
  place: string,
  options: ProjectOptions,
): Promise<ImportSummary> {
  const isFile = (await stat(place).catch(() => undefined))?.isFile() === true;
  if (isFile && options.prune === true) {
    throw new CommandError(`--prune removes the files that a folder lacks, and ${place} is a file`);
  }
  const folder = isFile ? dirname(place) : place;
  const only = isFile ? basename(place) : undefined;
  const find = settledScan(() => findMarkdown(folder, options, only));
  const conversions = openConversions(io);
  const { files, ...rest } = await find();
  if (files.length === 0 && options.watch !== true) {
    const unread = rest.rejected.map(({ path, reason }) => `${path} ${reason}`);
    const missing = `there is no ${wantedKinds(options)} file in ${place}`;
    const notes = [missing, ...unread, ...skippedIn(rest)];
    throw new CommandError(withoutControls(notes.join("; ")));
  }
  // Before the first import, so that no change is missed.
  const watching = options.watch ? await watch(io, place, reasonOf) : undefined;
  const importNow = async (
    sql: Sql,
    destination: ImportDestination,
    embedder: Embedder,
    mayPrune: typeof confirmPrune,
  ) => {
    const found = { ...destination, ...(await find()) };
    const prune =
      options.prune === true &&
      (await mayPrune(io, sql, { ...found, text: options.text }, options));
    const work = { ...options, ...found, folder, conversions, embedder, prune };
    return await importFound(io, sql, work);
  };
  const first = async (sql: Sql, destination: ImportDestination, embedder: Embedder) => {
    if (embedder.fingerprint === undefined) {
      await warnOfMixedEmbedders(io, sql, { ...destination, files }, embedder);
    }
    return await importNow(sql, destination, embedder, confirmPrune);
  };
  return await intoProject(io, options, first, async (sql, destination) => {
    await watching?.(async () => {
      const project = await projectNamed(sql, destination.project);
      const { embedder } = await chooseEmbedder(io, sql, project, options);
      // While the folder is watched, the user cannot answer a question.
      await importNow(sql, destination, embedder, withinPruneMax);
    });
  });
}

/** The texts of a watched folder may be embedded later, and the folder may come back. */
function reasonOf(error: Error): string | undefined {
  if (error instanceof EmbeddingError) return explainEmbeddingError(error);
  return error instanceof ImportError ? error.message : undefined;
}

type FoundFiles = Parameters<typeof importMarkdown>[1] &
  ReturnType<typeof findMarkdown> &
  Pick<ImportOptions, "strict" | "wait">;

async function importFound(io: Io, sql: Sql, work: FoundFiles): Promise<ImportSummary> {
  const reporter = new Reporter(io.stderr, work.files.length, "files");
  return await reported(io, sql, reporter, work, () => {
    for (const note of skippedIn(work)) reporter.onReport("tessera", withoutControls(note));
    return importMarkdown(sql, work, reporter);
  });
}

async function importRows(
  io: Io,
  files: readonly string[],
  columns: ColumnMap,
  options: ProjectOptions,
): Promise<ImportSummary> {
  const strict = options.strict === true;
  const total = await sizeOfTables(files);
  return await intoProject(io, options, (sql, destination, embedder) =>
    reported(io, sql, new Reporter(io.stderr, total, "bytes"), options, (reporter) =>
      importTable(sql, { ...destination, files, columns, embedder, strict }, reporter),
    ),
  );
}

/** Imports into a project. Prints the next steps for a new one. Then `andThen` runs. */
async function intoProject(
  io: Io,
  options: ProjectOptions,
  work: (sql: Sql, destination: ImportDestination, embedder: Embedder) => Promise<ImportSummary>,
  andThen: (sql: Sql, destination: ImportDestination) => Promise<void> = async () => {},
): Promise<ImportSummary> {
  const { project, environment = DEFAULT_ENVIRONMENT } = options;
  const all = async (sql: Sql) => {
    const known = await projectNamed(sql, project);
    const isNew = known === undefined;
    if (options.owner !== undefined) {
      if (isNew) await refuseTypo(sql, options.owner);
      else await requireOwner(sql, known, options.owner);
    }
    const owner = options.owner ?? (await defaultOwner(sql));
    const { embedder, newEmbedder } = await chooseEmbedder(io, sql, known, options);
    const destination = { project, owner, environments: [environment], newEmbedder };
    const summary = await work(sql, destination, embedder);
    if (known !== undefined) await tellServedRelease(io, sql, known.id, environment);
    await tellNextSteps(io, sql, options, isNew ? owner : undefined);
    await andThen(sql, destination);
    return summary;
  };
  return await withDatabase(io, all, { create: options.create, schema: "first" });
}

/** Warns that searches do not show the imported files if the environment serves a release. */
async function tellServedRelease(
  io: Io,
  sql: Sql,
  projectId: string,
  environment: string,
): Promise<void> {
  const { serves } = await findWorkingSet(sql, projectId, environment);
  if (serves === null) return;
  notice(
    io,
    `${environment} serves the release ${serves}: searches show the imported files once it serves its working set`,
  );
}

/** Runs an import, prints its summary, and waits until searches see its changes. */
async function reported(
  io: Io,
  sql: Sql,
  reporter: Reporter,
  { strict, wait }: Pick<ImportOptions, "strict" | "wait">,
  work: (reporter: Reporter) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  try {
    const keeps = () => reporter.kept(strict === true);
    const summary = await interruptible(keeps, () => work(reporter));
    reporter.stop();
    if (summary.rejected === 0 || !strict) reporter.warn();
    const database = databaseName(configOf(io));
    print(io, reporter.summary(summary, { strict: strict === true, database }));
    await untilSearchable(io, sql, summary.projects, wait);
    return summary;
  } finally {
    reporter.stop();
  }
}

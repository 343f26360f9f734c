import { OPERATOR } from "../../auth/audit/actor.ts";
import { noteChange } from "../../auth/audit/changes.ts";
import { projectNamed } from "../../auth/project-reference.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import type { Charging } from "../../db/quotas.ts";
import type { Conversions } from "../../documents/conversion/conversions.ts";
import { type FolderFile, type Rejected, unreadIn } from "../../documents/conversion/folder.ts";
import { RecordError } from "../../documents/errors.ts";
import type { Embedder } from "../../embed/embedders/embedder.ts";
import { type ImportDestination, inputRecords, missingRecords } from "./destination.ts";
import {
  documentVersion,
  embedChunks,
  findStoredPaths,
  type MarkdownDocument,
  readDocuments,
} from "./files/documents.ts";
import { importRecords } from "./import-records.ts";
import type { ImportSummary } from "./import-summary.ts";
import { prunablePaths, pruneEnvironment } from "./put/scopes.ts";
import { BatchBuilder, type InputRecord } from "./records/batches.ts";

interface MarkdownImport extends ImportDestination {
  readonly folder: string;
  readonly files: readonly FolderFile[];
  /** Files and folders that cannot be read, and symbolic links. Their stored files are not removed. */
  readonly rejected?: readonly Rejected[];
  readonly links?: readonly string[];
  readonly conversions?: Conversions | undefined;
  readonly embedder: Embedder;
  /** Plain texts are imported too. */
  readonly text?: boolean | undefined;
  /** Remove Markdown files, and texts if they are imported, that are not among `files` from the working sets. */
  readonly prune?: boolean;
  /** Import nothing if a single file is rejected. */
  readonly strict?: boolean;
  /** Records to import after the files. */
  readonly furtherRecords?: readonly object[];
}

interface MarkdownListener {
  /** Called for each file that was read. */
  onFile(): void;
  /** Called for each rejected file, and for each whose frontmatter is imported as text. */
  onReport(path: string, reason: string): void;
  /** Called after each batch with the number of imported records by kind. */
  onBatch?(imported: ReadonlyMap<string, number>): void;
  /** Called after the last record with each step that follows, or that the import waits for. */
  onFinishing?(step: string): void;
}

/**
 * Imports Markdown files, chunked and embedded. Files whose version is stored already are not
 * embedded again. Throws an ImportError, or an EmbeddingError if the embedder fails.
 */
export async function importMarkdown(
  sql: Sql,
  work: MarkdownImport,
  listener: MarkdownListener,
): Promise<ImportSummary> {
  return await importRecords(sql, readBatches(sql, work, listener), {
    actor: OPERATOR,
    strict: work.strict === true,
    onRejected: (path, reason) => listener.onReport(path, reason),
    onWarning: (path, warning) => listener.onReport(path, warning),
    onBatch: (imported) => listener.onBatch?.(imported),
    onFinishing: (step) => listener.onFinishing?.(step),
    ...(work.prune ? { finalStep: (writer: Charging) => prune(writer, work) } : {}),
  });
}

type PruneScope = Pick<
  MarkdownImport,
  "project" | "environments" | "files" | "rejected" | "links" | "text"
>;

/** Files that `prune` removes from a working set. */
export interface Removals {
  readonly environment: string;
  readonly paths: readonly string[];
  /** All files of the working set that could be removed. */
  readonly of: number;
}

interface Environment {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
}

async function environmentsOf(sql: Queryable, work: PruneScope): Promise<Environment[]> {
  const project = await projectNamed(sql, work.project);
  return await sql<Environment[]>`
    SELECT id, name, project_id FROM environments
    WHERE project_id = ${project?.id ?? null} AND name = ANY (${work.environments as string[]})`;
}

/** The paths, and the prefixes of paths, that stay in the working sets. */
function keptOf(work: PruneScope) {
  const { paths, below } = unreadIn(work);
  return { paths: [...work.files.map(({ path }) => path), ...paths], below };
}

/** The files that an import with `prune` would remove now, by environment. */
export async function plannedRemovals(sql: Queryable, work: PruneScope): Promise<Removals[]> {
  const { paths: known, below } = keptOf(work);
  const kept = new Set(known);
  const isKept = (path: string) => kept.has(path) || below.some((start) => path.startsWith(start));
  const planned: Removals[] = [];
  for (const { id, name } of await environmentsOf(sql, work)) {
    const present = await prunablePaths(sql, id, work.text);
    const paths = present.filter((path) => !isKept(path));
    if (paths.length > 0) planned.push({ environment: name, paths, of: present.length });
  }
  return planned;
}

async function prune(writer: Charging, work: MarkdownImport): Promise<number> {
  const { sql } = writer;
  const kept = keptOf(work);
  let removed = 0;
  for (const environment of await environmentsOf(sql, work)) {
    const { name, project_id: project } = environment;
    const count = await pruneEnvironment(writer, environment, kept, work.text);
    removed += count;
    if (count > 0)
      await noteChange(sql, "files.removed", project, {
        environment: name,
        files: count,
        by: "prune",
      });
  }
  return removed;
}

async function* readBatches(
  sql: Sql,
  work: MarkdownImport,
  listener: MarkdownListener,
): AsyncGenerator<InputRecord[]> {
  const { folder, project, files, rejected = [], embedder, conversions } = work;
  const missing = await missingRecords(sql, work);
  if (missing.length > 0) yield missing;
  const batch = new BatchBuilder();
  for (const { path, reason } of rejected) {
    batch.add({ where: path, parsed: new RecordError(reason) }, 0);
  }
  for await (const documents of readDocuments(folder, files, embedder.name, conversions)) {
    const readable = documents.filter((each): each is MarkdownDocument => !("reason" in each));
    const stored = await findStoredPaths(sql, project, readable);
    const changed = readable.filter(({ path }) => !stored.has(path));
    const chunks = await embedChunks(changed, embedder);
    for (const document of documents) {
      listener.onFile();
      if ("reason" in document) {
        batch.add({ where: document.file, parsed: new RecordError(document.reason) }, 0);
        continue;
      }
      const { file, text } = document;
      const record = documentVersion(document, work, chunks.get(document));
      batch.add({ where: file, parsed: { kind: "file", record } }, text.length);
    }
    if (batch.full) yield batch.take();
  }
  if (!batch.empty) yield batch.take();
  for (const record of inputRecords(work.furtherRecords ?? [], project)) yield [record];
}

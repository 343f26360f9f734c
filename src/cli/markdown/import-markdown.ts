import { loadConfig } from "../../config/load.ts";
import type { Sql } from "../../db/client.ts";
import {
  chunkMarkdown,
  type MarkdownChunk,
  parseMarkdown,
} from "../../knowledge/markdown/index.ts";
import {
  DIMENSIONS,
  IMPORT_BATCH_BYTES,
  IMPORT_PATH_MAX_BYTES,
  MARKDOWN_FILES_PER_STEP,
} from "../../limits.ts";
import { CommandError } from "../command-error.ts";
import { withDatabase } from "../database.ts";
import { embeddingOf } from "../import/embedding.ts";
import type { PreparedChunk, PreparedFile } from "../import/file-record.ts";
import { canonicalJson } from "../import/ids.ts";
import { type ImportSummary, importItems } from "../import/importer.ts";
import { Batch, type Item } from "../import/items.ts";
import { LineError } from "../import/line-error.ts";
import { entryOf } from "../import/parse.ts";
import { Reporter } from "../import/reporter.ts";
import { pruneEnvironment } from "../import/scopes.ts";
import { type Embedder, hashingEmbedder } from "./embedder.ts";
import { findMarkdown, readMarkdown } from "./folder.ts";
import { remoteEmbedder } from "./remote-embedder.ts";

export interface MarkdownOptions {
  readonly project: string;
  readonly environment?: string;
  readonly owner?: string;
  readonly prune?: boolean;
  readonly strict?: boolean;
  readonly embedUrl?: string;
  readonly embedModel?: string;
  readonly embedDimension?: number;
}

/** Owns projects that are made without `--owner`. */
export const LOCAL_USER = "owner@localhost";
const DEFAULT_ENVIRONMENT = "production";
/** Part of version keys: a change of how files are cut makes new versions of them. */
const CHUNKER = "markdown-1";

/** The `import --markdown` command. */
export async function importMarkdown(
  folder: string,
  options: MarkdownOptions,
): Promise<ImportSummary> {
  const { paths, links } = findMarkdown(folder);
  if (paths.length === 0) throw new CommandError(`there is no .md or .mdx file in ${folder}`);
  const embedder = chooseEmbedder(options);
  return await withDatabase(async (sql) => {
    const reporter = new Reporter(paths.length, "files");
    for (const link of links) reporter.error(link, "is a symbolic link, which is not followed");
    try {
      const summary = await importFolder(
        sql,
        {
          ...options,
          folder,
          paths,
          embedder,
          environments: [options.environment ?? DEFAULT_ENVIRONMENT],
        },
        reporter,
      );
      reporter.stop();
      process.stdout.write(reporter.summary(summary, options.strict === true));
      return summary;
    } finally {
      reporter.stop();
    }
  });
}

/** An embedder as the options ask for it. Throws a CommandError when they make no sense. */
export function chooseEmbedder(
  options: Pick<MarkdownOptions, "embedUrl" | "embedModel" | "embedDimension">,
): Embedder {
  const { embedUrl: url, embedModel: model, embedDimension: dimension } = options;
  if (dimension !== undefined && !(DIMENSIONS as readonly number[]).includes(dimension)) {
    throw new CommandError(`--embed-dimension must be one of ${DIMENSIONS.join(", ")}`);
  }
  if (url === undefined || model === undefined) return hashingEmbedder(dimension);
  return remoteEmbedder({ url, model, dimension, apiKey: loadConfig().embedApiKey });
}

interface FolderImport extends Pick<MarkdownOptions, "project" | "owner" | "prune" | "strict"> {
  readonly folder: string;
  readonly paths: readonly string[];
  readonly embedder: Embedder;
  /** The environments whose working sets take the files; they are created where missing. */
  readonly environments: readonly string[];
  /** Records to import behind the files. */
  readonly epilogue?: readonly object[];
}

/** Imports a folder, with the project and the environment where they do not exist. */
export async function importFolder(
  sql: Sql,
  work: FolderImport,
  reporter: Pick<Reporter, "advance" | "kept" | "error">,
): Promise<ImportSummary> {
  const { project, environments, paths } = work;
  const items = itemsOf(sql, work, reporter);
  const prune = work.prune
    ? async (tx: Sql) => {
        let removed = 0;
        for (const { id } of await tx<{ id: string }[]>`
          SELECT e.id FROM environments e JOIN projects p ON p.id = e.project_id
          WHERE p.slug = ${project} AND e.name = ANY (${environments as string[]})`) {
          removed += await pruneEnvironment(tx, id, paths);
        }
        return removed;
      }
    : undefined;
  return await importItems(sql, items, {
    strict: work.strict === true,
    onError: reporter.error,
    onKept: (kinds) => reporter.kept(kinds),
    ...(prune === undefined ? {} : { finally: prune }),
  });
}

async function* itemsOf(
  sql: Sql,
  work: FolderImport,
  reporter: Pick<Reporter, "advance" | "error">,
): AsyncGenerator<Item[]> {
  const { folder, project, paths, embedder } = work;
  const frame = await missingFrame(sql, work);
  if (frame.length > 0) yield frame;
  const batch = new Batch();
  for (const drafts of stepsOf(folder, paths, embedder.name)) {
    const readable = drafts.filter((draft): draft is Draft => !("fault" in draft));
    const stored = await storedVersions(sql, project, readable);
    const fresh = readable.filter((draft) => !stored.has(draft.path));
    const chunks = await embeddedChunks(fresh, embedder);
    for (const draft of drafts) {
      reporter.advance(1);
      if ("fault" in draft) {
        batch.add({ where: draft.path, entry: new LineError(draft.fault) }, 0);
        continue;
      }
      if (draft.warning !== null) {
        reporter.error(draft.path, `${draft.warning}; imported without it`);
      }
      const record = fileOf(draft, work, chunks.get(draft));
      batch.add({ where: draft.path, entry: { kind: "file", record } }, draft.text.length);
    }
    if (batch.full) yield batch.take();
  }
  if (!batch.empty) yield batch.take();
  for (const item of itemsOfRecords(work.epilogue ?? [], project)) yield [item];
}

/** Reads the files, several at a time, but not more text than one batch is to hold. */
function* stepsOf(
  folder: string,
  paths: readonly string[],
  embedder: string,
): Generator<ReturnType<typeof draftOf>[]> {
  let drafts: ReturnType<typeof draftOf>[] = [];
  let chars = 0;
  for (const path of paths) {
    const draft = draftOf(folder, path, embedder);
    drafts.push(draft);
    chars += "fault" in draft ? 0 : draft.text.length;
    if (drafts.length >= MARKDOWN_FILES_PER_STEP || chars >= IMPORT_BATCH_BYTES) {
      yield drafts;
      drafts = [];
      chars = 0;
    }
  }
  if (drafts.length > 0) yield drafts;
}

/** The records of project and environments, as far as they do not exist yet. */
async function missingFrame(
  sql: Sql,
  { project, environments, owner = LOCAL_USER }: FolderImport,
): Promise<Item[]> {
  const [found] = await sql<{ environments: string[] }[]>`
    SELECT ARRAY (SELECT e.name FROM environments e WHERE e.project_id = p.id) AS environments
    FROM projects p WHERE p.slug = ${project}`;
  const records: object[] = [];
  if (found === undefined) {
    const [user] = await sql`SELECT 1 FROM users WHERE lower(email) = lower(${owner})`;
    const name = owner.slice(0, owner.indexOf("@"));
    if (user === undefined) records.push({ record: "user", email: owner, name });
    records.push({ record: "project", slug: project, name: project, owner });
  }
  for (const name of environments) {
    if (found?.environments.includes(name)) continue;
    records.push({ record: "environment", project, name });
  }
  return itemsOfRecords(records, project);
}

/** Without its project no file can be imported, so a fault here is no matter of one line. */
function itemsOfRecords(records: readonly object[], project: string): Item[] {
  try {
    return records.map((record) => ({ where: project, entry: entryOf(record) }));
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw new CommandError(`--project, --environment or --owner is not valid: ${error.message}`);
  }
}

interface Draft {
  readonly path: string;
  readonly text: string;
  readonly title: string;
  readonly versionKey: string;
  readonly warning: string | null;
}

function draftOf(
  folder: string,
  path: string,
  embedder: string,
): Draft | { path: string; fault: string } {
  try {
    if (Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES) {
      throw new LineError(`has a path of more than ${IMPORT_PATH_MAX_BYTES} bytes`);
    }
    const text = readMarkdown(folder, path);
    const hash = new Bun.CryptoHasher("sha256");
    hash.update(`${CHUNKER}\n${embedder}\n`);
    hash.update(text);
    const versionKey = `markdown:${hash.digest("hex")}`;
    const { title, fault } = parseMarkdown(path, text);
    return { path, text, title, versionKey, warning: fault };
  } catch (error) {
    if (error instanceof LineError) return { path, fault: error.message };
    throw error;
  }
}

/** Paths whose version is stored already, and so need no embedding again. */
async function storedVersions(
  sql: Sql,
  project: string,
  drafts: readonly Draft[],
): Promise<Set<string>> {
  const rows = await sql<{ path: string }[]>`
    SELECT f.path FROM unnest(${drafts.map((draft) => draft.path)}::text[],
      ${drafts.map((draft) => draft.versionKey)}::text[]) u (path, key)
    JOIN projects p ON p.slug = ${project}
    JOIN files f ON f.project_id = p.id AND f.path = u.path
    JOIN file_versions v ON v.file_id = f.id AND v.version_key = u.key`;
  return new Set(rows.map((row) => row.path));
}

/** The chunks of several files, embedded together. */
async function embeddedChunks(
  drafts: readonly Draft[],
  embedder: Embedder,
): Promise<Map<Draft, PreparedChunk[]>> {
  const pieces = drafts.map((draft) => ({ draft, chunks: chunkMarkdown(draft.text) }));
  const vectors = await embedder.embedPassages(
    pieces.flatMap(({ draft, chunks }) =>
      chunks.map(({ content, metadata }) => ({
        content,
        headings:
          metadata.headings[0] === draft.title
            ? metadata.headings
            : [draft.title, ...metadata.headings],
      })),
    ),
  );
  let next = 0;
  return new Map(
    pieces.map(({ draft, chunks }) => [
      draft,
      chunks.map((chunk, index) => prepared(chunk, index, vectors[next++] as Float32Array)),
    ]),
  );
}

function prepared(chunk: MarkdownChunk, index: number, vector: Float32Array): PreparedChunk {
  const { dimension, base64 } = embeddingOf(vector);
  return {
    index,
    content: chunk.content,
    startOffset: chunk.start_offset,
    endOffset: chunk.end_offset,
    tokenCount: chunk.token_count,
    metadata: canonicalJson(chunk.metadata),
    dimension,
    embedding: base64,
  };
}

/** Without chunks it names a version that is stored already. */
function fileOf(
  draft: Draft,
  { project, environments }: FolderImport,
  chunks: readonly PreparedChunk[] | undefined,
): PreparedFile {
  return {
    id: undefined,
    project,
    path: draft.path,
    environments,
    releases: [],
    content: chunks === undefined ? null : draft.text,
    versionKey: draft.versionKey,
    keyNamesContents: true,
    // The key is made of the text, and the chunks follow from it.
    fingerprint: draft.versionKey,
    chunks: chunks ?? [],
  };
}

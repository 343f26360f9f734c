import { CommandError } from "../../cli/command-error.ts";
import { withDatabase } from "../../cli/database.ts";
import { loadConfig } from "../../config/load.ts";
import type { Sql } from "../../db/client.ts";
import { DIMENSIONS } from "../../shared/limits.ts";
import { isDimension } from "../../shared/vector.ts";
import { type Embedder, hashingEmbedder } from "../embedders/embedder.ts";
import { remoteEmbedder } from "../embedders/remote-embedder.ts";
import { type ImportSummary, importItems } from "../importer.ts";
import { Batch, type Item } from "../placement/items.ts";
import { pruneEnvironment } from "../placement/scopes.ts";
import { LineError } from "../records/line-error.ts";
import { entryOf } from "../records/parse.ts";
import { Reporter } from "../reporter.ts";
import { type Draft, embeddedChunks, fileOf, readDrafts, storedVersions } from "./drafts.ts";
import { findMarkdown } from "./folder.ts";

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

/** The `import --markdown` command. */
export async function importMarkdown(
  folder: string,
  options: MarkdownOptions,
): Promise<ImportSummary> {
  const { paths, refused } = findMarkdown(folder);
  if (paths.length === 0) throw new CommandError(`there is no .md or .mdx file in ${folder}`);
  const embedder = chooseEmbedder(options);
  return await withDatabase(async (sql) => {
    const reporter = new Reporter(paths.length, "files");
    for (const { path, reason } of refused) reporter.error(path, reason);
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
  if (dimension !== undefined && !isDimension(dimension)) {
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
  for (const drafts of readDrafts(folder, paths, embedder.name)) {
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

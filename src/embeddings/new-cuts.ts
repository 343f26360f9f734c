import type { Sql, Transaction } from "../db/client.ts";
import { holdProject } from "../db/project-lock.ts";
import { countOnly } from "../db/quotas.ts";
import { transaction } from "../db/transaction.ts";
import type { FileVersion } from "../import/records/file-record.ts";
import { textKey } from "../import/records/text-key.ts";
import { storeTextFile, textVersion } from "../import/text-file.ts";
import { contentsHash, storedContents } from "../import/upsert/version-contents.ts";

/** Texts that are in memory at once. */
const TEXTS_PER_READ = 16;
/** No file version has this id, which is before all others. */
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

interface Text {
  readonly id: string;
  readonly path: string;
  readonly content: string;
  readonly key: string;
}

/** The versions with new chunks, by the id of the version with the old ones. */
export type NewCuts = ReadonlyMap<string, string>;

/**
 * Stores a version with new chunks of each text in a working set whose chunks the service has cut by the rules of an
 * earlier release. No working set has them yet, so that searches find the old ones until the new ones are embedded.
 * Chunks that a client sent stay as they are.
 */
export async function storeNewCuts(sql: Sql, project: string): Promise<NewCuts> {
  const cuts = new Map<string, string>();
  for (let after = FIRST_ID; ; ) {
    const texts = await nextTexts(sql, project, after);
    const last = texts.at(-1);
    if (last === undefined) return cuts;
    after = last.id;
    const stored = await storedContents(
      sql,
      texts.map(({ id }) => id),
    );
    for (const text of texts) {
      const known = stored.get(text.id);
      const version = await versionOf(project, text);
      if (known === undefined || known.given !== null || known.hash === contentsHash(version)) {
        continue;
      }
      cuts.set(text.id, await store(sql, project, version));
    }
  }
}

/** The next texts of working sets that the service has cut: it gives each chunk headings, tokens and nothing else. */
async function nextTexts(sql: Sql, project: string, after: string): Promise<Text[]> {
  return await sql<Text[]>`
    SELECT v.id, f.path, v.content, v.version_key AS key
    FROM file_versions v JOIN files f ON f.id = v.file_id
    WHERE v.project_id = ${project} AND v.id > ${after} AND v.version_key LIKE 'text:%' AND v.content IS NOT NULL
      AND EXISTS (SELECT FROM environment_files e WHERE e.file_version_id = v.id)
      AND NOT EXISTS (
        SELECT FROM chunks c WHERE c.file_version_id = v.id
          AND (c.token_count = 0 OR NOT c.metadata ? 'headings' OR c.metadata - 'headings' <> '{}'))
    ORDER BY v.id LIMIT ${TEXTS_PER_READ}`;
}

/** The text as if it was written now, in the form in which it was written. */
async function versionOf(project: string, { path, content, key }: Text): Promise<FileVersion> {
  const isMarkdown = key.startsWith(textKey(content, "markdown"));
  return await textVersion(project, { path, content, isMarkdown });
}

async function store(sql: Sql, project: string, version: FileVersion): Promise<string> {
  return await transaction(sql, async (tx) => {
    await holdProject(tx, project);
    await countOnly(tx);
    const [{ slug = "" } = {}] = await tx<{ slug: string }[]>`
      SELECT slug FROM projects WHERE id = ${project}`;
    const { versionId } = await storeTextFile(tx, { id: project, slug, asOwner: false }, version);
    return versionId;
  });
}

/**
 * Puts the versions with new chunks into the working sets that still have the old ones. Releases keep theirs.
 * Returns the number of files of working sets.
 */
export async function useNewCuts(tx: Transaction, project: string, cuts: NewCuts): Promise<number> {
  const { count } = await tx`
    UPDATE environment_files w SET file_version_id = cut.new
    FROM unnest(${[...cuts.keys()]}::uuid[], ${[...cuts.values()]}::uuid[]) AS cut (old, new)
    WHERE w.project_id = ${project} AND w.file_version_id = cut.old`;
  return count;
}

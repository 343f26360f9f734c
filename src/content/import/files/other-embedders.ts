import { projectNamed } from "../../../auth/project-reference.ts";
import type { Queryable } from "../../../db/client.ts";
import { versionKeyPrefix } from "./documents.ts";

/** Files whose embedder is compared with that of an import or a search. */
const EMBEDDER_SAMPLE_FILES = 50;

interface EmbeddedScope {
  /** A reference to it. */
  readonly project: string;
  readonly environment: string;
  /** Instead of the environment's working set. */
  readonly release?: string | undefined;
  /** Paths that are left out. */
  readonly except?: readonly string[];
}

/**
 * Counts the files in a sample of a scope's Markdown files that another embedder has embedded. The key of a version
 * shows this: it is a hash of the embedder's name and the text.
 */
export async function countOtherEmbedders(
  sql: Queryable,
  { project, environment, release, except = [] }: EmbeddedScope,
  embedder: string,
): Promise<{ readonly others: number; readonly of: number }> {
  const kind = release === undefined ? "environment" : "release";
  const found = await projectNamed(sql, project);
  const [row] = await sql<{ others: number; of: number }[]>`
    SELECT count(*)::integer AS of, count(*) FILTER (WHERE s.version_key <> 'markdown:' ||
      encode(sha256(convert_to(${versionKeyPrefix(embedder)} || s.content, 'UTF8')), 'hex')
    )::integer AS others
    FROM (
      SELECT v.version_key, v.content FROM ${sql(`${kind}s`)} e
      JOIN ${sql(`${kind}_files`)} m ON m.${sql(`${kind}_id`)} = e.id
      JOIN file_versions v ON v.id = m.file_version_id JOIN files f ON f.id = v.file_id
      WHERE e.project_id = ${found?.id ?? null} AND e.name = ${release ?? environment}
        AND v.version_key LIKE 'markdown:%' AND v.content IS NOT NULL
        AND f.path <> ALL (${[...except]}::text[])
      LIMIT ${EMBEDDER_SAMPLE_FILES}
    ) s`;
  return row ?? { others: 0, of: 0 };
}

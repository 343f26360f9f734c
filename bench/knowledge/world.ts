import type { Sql } from "../../src/db/client.ts";
import type { KnowledgeDocument } from "../../src/text/index.ts";
import { addEnvironment, addProject } from "../../support/accounts.ts";

const BATCH_DOCUMENTS = 500;

/** A Markdown file. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface BenchProject {
  readonly id: string;
  readonly slug: string;
  readonly environmentId: string;
  /** Path of the lookup operation for this project. */
  readonly lookupPath: string;
}

/** An empty project with the environment `production`. */
export async function writeProject(sql: Sql, userId: string, slug: string): Promise<BenchProject> {
  const project = await addProject(sql, userId, slug);
  const environment = await addEnvironment(sql, project, "production");
  const lookupPath = `/projects/${slug}/knowledge/lookup`;
  return { id: project.id, slug, environmentId: environment.id, lookupPath };
}

/**
 * Writes files as new versions into the environment, 500 per transaction. `onCommit` gets the number
 * of files written so far.
 */
export async function writeFiles(
  sql: Sql,
  { id, environmentId }: BenchProject,
  sources: readonly Source[],
  onCommit: (written: number) => void = () => {},
): Promise<void> {
  for (let at = 0; at < sources.length; at += BATCH_DOCUMENTS) {
    const batch = sources.slice(at, at + BATCH_DOCUMENTS);
    await sql`
      WITH given AS (
        SELECT * FROM unnest(${batch.map((s) => s.path)}::text[],
          ${batch.map((s) => s.text)}::text[]) AS t (path, content)
      ), made AS (
        INSERT INTO files (id, project_id, path)
        SELECT gen_random_uuid(), ${id}, path FROM given
        ON CONFLICT (project_id, path) DO UPDATE SET path = excluded.path
        RETURNING id, path
      ), versions AS (
        INSERT INTO file_versions (id, project_id, file_id, version_key, content)
        SELECT gen_random_uuid(), ${id}, made.id, gen_random_uuid()::text, given.content
        FROM made JOIN given USING (path)
        RETURNING id, file_id
      )
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${id}, ${environmentId}, file_id, id FROM versions
      ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id`;
    onCommit(at + batch.length);
  }
}

/** The Markdown file from which the document could have been read. */
export function sourceOf({ path, frontmatter, headings, content }: KnowledgeDocument): Source {
  const yaml = frontmatter.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`);
  const titles = headings.map((heading) => `## ${heading}`);
  return { path, text: ["---", ...yaml, "---", "", ...titles, "", content, ""].join("\n") };
}

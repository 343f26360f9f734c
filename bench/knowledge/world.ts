import { randomUUID } from "node:crypto";
import { generateKey, hashKey, parseKey } from "../../src/auth/key-format.ts";
import type { Sql } from "../../src/db/client.ts";
import type { KnowledgeDocument } from "../../src/text/index.ts";

const BATCH_DOCUMENTS = 500;

/** A file's path and its Markdown. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface BenchProject {
  readonly id: string;
  readonly environmentId: string;
  /** Path of its lookups. */
  readonly lookupPath: string;
}

/** A user with an unscoped API key; returns the key and the user's id. */
export async function writeUser(sql: Sql): Promise<{ userId: string; apiKey: string }> {
  const userId = randomUUID();
  const apiKey = generateKey();
  const prefix = parseKey(apiKey)?.keyPrefix as string;
  await sql`INSERT INTO users (id, email) VALUES (${userId}, ${`${userId}@example.com`})`;
  await sql`INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
    VALUES (${randomUUID()}, ${userId}, 'bench', ${prefix}, ${Buffer.from(hashKey(apiKey))})`;
  return { userId, apiKey };
}

/** An empty project with the environment `production`. */
export async function writeProject(sql: Sql, userId: string, slug: string): Promise<BenchProject> {
  const id = randomUUID();
  const environmentId = randomUUID();
  await sql`INSERT INTO projects (id, slug, name) VALUES (${id}, ${slug}, ${slug})`;
  await sql`INSERT INTO memberships (project_id, user_id) VALUES (${id}, ${userId})`;
  await sql`INSERT INTO environments (id, project_id, name)
    VALUES (${environmentId}, ${id}, 'production')`;
  return { id, environmentId, lookupPath: `/projects/${slug}/knowledge/lookup` };
}

/** Writes files as new versions into the environment, several hundred per transaction. */
export async function writeFiles(
  sql: Sql,
  { id, environmentId }: BenchProject,
  sources: readonly Source[],
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
  }
}

/** A document as a Markdown file. */
export function sourceOf({ path, frontmatter, headings, content }: KnowledgeDocument): Source {
  const yaml = frontmatter.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`);
  const titles = headings.map((heading) => `## ${heading}`);
  return { path, text: ["---", ...yaml, "---", "", ...titles, "", content, ""].join("\n") };
}

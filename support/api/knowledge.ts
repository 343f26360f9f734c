import type { Sql } from "../../src/db/client.ts";
import type { NamedScope } from "../accounts.ts";
import type { TestProject } from "./api.ts";

/** Writes texts as new versions of their files; returns the ids of file and version by path. */
export async function writeTexts(
  sql: Sql,
  project: TestProject,
  texts: Readonly<Record<string, string>>,
): Promise<Map<string, { fileId: string; versionId: string }>> {
  const paths = Object.keys(texts);
  const rows = await sql<{ path: string; file_id: string; version_id: string }[]>`
    WITH given AS (
      SELECT * FROM unnest(${paths}::text[], ${Object.values(texts)}::text[]) AS t (path, content)
    ), made AS (
      INSERT INTO files (id, project_id, path)
      SELECT gen_random_uuid(), ${project.id}, path FROM given
      ON CONFLICT (project_id, path) DO UPDATE SET path = excluded.path
      RETURNING id, path
    )
    INSERT INTO file_versions (id, project_id, file_id, version_key, content)
    SELECT gen_random_uuid(), ${project.id}, made.id, gen_random_uuid()::text, given.content
    FROM made JOIN given USING (path)
    RETURNING id AS version_id, file_id, (SELECT path FROM made WHERE made.id = file_id) AS path`;
  return new Map(
    rows.map(({ path, file_id, version_id }) => [path, { fileId: file_id, versionId: version_id }]),
  );
}

/** Puts new versions of texts into the working set of an environment, in one transaction. */
export async function publishTexts(
  sql: Sql,
  project: TestProject,
  environment: NamedScope,
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  await sql.begin(async (tx) => {
    const versions = [...(await writeTexts(tx as unknown as Sql, project, texts)).values()];
    await tx`
      INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${project.id}, ${environment.id}, file_id, version_id
      FROM unnest(${versions.map((v) => v.fileId)}::uuid[], ${versions.map((v) => v.versionId)}::uuid[])
        AS t (file_id, version_id)
      ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id`;
  });
}

import { randomUUID } from "node:crypto";
import type { Sql } from "../src/db/client.ts";
import { fileTitle } from "../src/documents/markdown/index.ts";
import type { Project } from "./accounts.ts";

/** A conversation in a project, or one that only its creator can see. Returns its id. */
export async function addConversation(
  sql: Sql,
  owner: { readonly userId: string },
  project?: Project,
): Promise<string> {
  const id = randomUUID();
  await sql`
    INSERT INTO conversations (id, project_id, title, created_by)
    VALUES (${id}, ${project?.id ?? null}, 'A conversation', ${owner.userId})`;
  return id;
}

/** Messages with seq 1 to `count`, each the child of the previous one. Returns their ids in order. */
export async function addMessages(sql: Sql, conversationId: string, count: number) {
  const ids = Array.from({ length: count }, () => randomUUID());
  const parents = [null, ...ids.slice(0, -1)];
  await sql`
    INSERT INTO messages (id, conversation_id, parent_id, seq, role, parts)
    SELECT t.id, ${conversationId}, t.parent, t.seq,
      CASE WHEN t.seq % 2 = 1 THEN 'user' ELSE 'assistant' END,
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'message ' || t.seq))
    FROM unnest(${ids}::uuid[], ${parents}::uuid[]) WITH ORDINALITY AS t (id, parent, seq)`;
  await sql`
    UPDATE conversations SET message_count = message_count + ${count} WHERE id = ${conversationId}`;
  return ids;
}

/** One file with one version that has `count` chunks without vectors. */
export async function addFile(sql: Sql, project: Project, path: string, count: number) {
  const fileId = randomUUID();
  const versionId = randomUUID();
  await sql`INSERT INTO files (id, project_id, path) VALUES (${fileId}, ${project.id}, ${path})`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, content, title, chunk_count)
    VALUES (${versionId}, ${project.id}, ${fileId}, 'v1', 'the contents', ${fileTitle(path, "the contents")},
      ${count})`;
  await addChunks(sql, project, { fileId, versionId, path, from: 0, count });
  return { fileId, versionId, path };
}

export async function addChunks(
  sql: Sql,
  project: Project,
  to: { fileId: string; versionId: string; path: string; from: number; count: number },
): Promise<void> {
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      start_offset, end_offset, token_count)
    SELECT gen_random_uuid(), ${project.id}, ${to.fileId}, ${to.versionId}, ${to.path}, i,
      'chunk ' || i, i * 10, i * 10 + 9, 2
    FROM generate_series(${to.from}::integer, ${to.from + to.count - 1}::integer) i`;
}

export async function addBranch(sql: Sql, project: Project): Promise<string> {
  const id = randomUUID();
  await sql`INSERT INTO branches (id, project_id, name) VALUES (${id}, ${project.id}, ${`b-${id}`})`;
  return id;
}

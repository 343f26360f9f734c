import type { Queryable } from "../../db/client.ts";

/** The id of the project to export; null for all of them. */
export type ProjectFilter = string | null;

/** A row whose columns are the fields of a record. */
export type Row = Record<string, unknown>;

/**
 * SQL that replaces columns of `t` by their times as text, with all digits, because a Date has milliseconds only. Later
 * columns of a row replace earlier ones of the same name.
 */
function times(...columns: string[]): string {
  return columns.map((column) => `to_json(t.${column}) #>> '{}' AS ${column}`).join(", ");
}

/** The members of a project; with null, all users. */
export async function readUsers(sql: Queryable, project: ProjectFilter): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT u.id, u.email, u.name, u.role, nullif(u.avatar_src, '') AS avatar_src FROM users u
    WHERE ${project}::uuid IS NULL
      OR EXISTS (SELECT FROM memberships m WHERE m.project_id = ${project} AND m.user_id = u.id)
    ORDER BY u.created_at, u.id`;
}

export async function readProjects(sql: Queryable, project: ProjectFilter): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.id, t.slug, t.name, t.description, t.features, t.config, t.is_claimed, t.prompt_count,
      t.provider, t.layout, t.embedder, ${sql.unsafe(times("published_at"))},
      (SELECT m.user_id FROM memberships m WHERE m.project_id = t.id
        ORDER BY m.role <> 'owner', m.created_at, m.user_id LIMIT 1) AS owner,
      (SELECT json_agg(json_build_object('user', m.user_id, 'role', m.role)
          ORDER BY m.created_at, m.user_id)
        FROM memberships m WHERE m.project_id = t.id) AS members
    FROM projects t WHERE ${project}::uuid IS NULL OR t.id = ${project}
    ORDER BY t.slug COLLATE "C"`;
}

/** Valid keys, with their hashes. */
export async function readApiKeys(sql: Queryable, project: ProjectFilter): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.id, t.user_id AS user, t.project_id AS project, t.name, t.key_prefix,
      encode(t.key_hash, 'hex') AS key_hash, t.scopes, ${sql.unsafe(times("expires_at"))}
    FROM api_keys t WHERE t.revoked_at IS NULL
      AND (${project}::uuid IS NULL OR t.project_id = ${project})
    ORDER BY t.created_at, t.id`;
}

export async function readEnvironments(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT e.id, e.project_id AS project, e.name, e.protected, e.domains,
      e.environment_variables, e.server_hostname, r.name AS active_release
    FROM environments e LEFT JOIN releases r ON r.id = e.active_release_id
    WHERE e.project_id = ${project} ORDER BY e.name`;
}

export async function readReleases(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT id, project_id AS project, name, export_status, build_status, deploy_status
    FROM releases WHERE project_id = ${project} ORDER BY created_at, name`;
}

/** A file version with its environments. */
export interface VersionRow extends Row {
  readonly version_id: string;
}

/** The file versions of a project after the position, oldest first for each file. */
export async function readVersions(
  sql: Queryable,
  project: string,
  after: VersionRow | undefined,
  limit: number,
): Promise<VersionRow[]> {
  const position = after
    ? sql`AND (f.path, v.created_at, v.id) > (SELECT f.path, v.created_at, v.id FROM file_versions v
        JOIN files f ON f.id = v.file_id WHERE v.id = ${after.version_id})`
    : sql``;
  return await sql<VersionRow[]>`
    SELECT f.id, v.project_id AS project, f.path, v.id AS version_id, v.version_key, v.content,
      (SELECT min(c.embedder) FROM chunks c WHERE c.file_version_id = v.id) AS embedder,
      ARRAY (SELECT e.name FROM environment_files w JOIN environments e ON e.id = w.environment_id
        WHERE w.file_version_id = v.id ORDER BY 1) AS environments
    FROM file_versions v JOIN files f ON f.id = v.file_id
    WHERE f.project_id = ${project} ${position}
    ORDER BY f.path, v.created_at, v.id LIMIT ${limit}`;
}

export async function readChunks(sql: Queryable, versions: readonly string[]): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT file_version_id, index, content, start_offset, end_offset, token_count,
      metadata, embedding
    FROM chunks WHERE file_version_id = ANY (${[...versions]}::uuid[])
    ORDER BY file_version_id, index`;
}

export async function readBranches(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT id, project_id AS project, name FROM branches
    WHERE project_id = ${project} ORDER BY name COLLATE "C"`;
}

export async function readApprovals(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.*, ${sql.unsafe(times("approved_at", "dismissed_at"))}
    FROM branch_approvals t JOIN branches b ON b.id = t.branch_id
    WHERE b.project_id = ${project} ORDER BY t.approved_at, t.id`;
}

export async function readChecks(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.*, ${sql.unsafe(times("created_at", "updated_at"))}
    FROM status_checks t JOIN branches b ON b.id = t.branch_id
    WHERE b.project_id = ${project} ORDER BY t.created_at, t.id`;
}

/** Conversations of a project; with null, conversations without a project. */
export async function readConversations(sql: Queryable, project: string | null): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT id, project_id, type, status, title, summary, current_node, message_count,
      metadata, agent_id, runtime_target_kind, runtime_target_environment_id, runtime_target_branch_id,
      created_by,
      ${sql.unsafe(times("created_at", "updated_at", "last_message_at", "archived_at"))}
    FROM conversations t WHERE project_id IS NOT DISTINCT FROM ${project}
    ORDER BY t.created_at, t.id`;
}

export async function readMessages(sql: Queryable, conversation: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.*, ${sql.unsafe(times("created_at", "updated_at", "edited_at"))}
    FROM messages t WHERE t.conversation_id = ${conversation} ORDER BY t.seq`;
}

const REQUEST_TIMES = ["created_at", "expires_at", "submitted_at", "cancelled_at", "expired_at"];

export async function readInputRequests(sql: Queryable, conversation: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT t.*, ${sql.unsafe(times(...REQUEST_TIMES))},
      (SELECT json_build_object('id', r.id, 'run_id', r.run_id, 'actor_type', r.actor_type,
          'actor_id', r.actor_id, 'values', r.values, 'created_at', r.created_at)
        FROM input_responses r WHERE r.input_request_id = t.id) AS latest_response
    FROM input_requests t WHERE t.conversation_id = ${conversation} ORDER BY t.created_at, t.id`;
}

export async function readWebhooks(sql: Queryable, project: string): Promise<Row[]> {
  return await sql<Row[]>`
    SELECT name AS id, project_id AS project, encode(secret_hash, 'hex') AS secret_hash, enabled,
      conversation_id
    FROM webhook_definitions WHERE project_id = ${project} ORDER BY name COLLATE "C"`;
}

/**
 * The releases of a project by file version. A release is stored as its difference from another one (see the table
 * `release_contents`), so the memory for them grows with the changes and not with the files of all releases.
 */
export class ReleaseNames {
  /** The ids of contents that list a version, by the version's id. */
  readonly #naming = new Map<string, string[]>();
  /** The names of releases whose chain of contents includes these, by their id. */
  readonly #reached = new Map<string, string[]>();

  static async read(sql: Queryable, project: string): Promise<ReleaseNames> {
    const names = new ReleaseNames();
    const links = await sql<{ name: string; id: string }[]>`
      WITH RECURSIVE chain AS (
        SELECT r.name, c.id, c.base_id FROM releases r JOIN release_contents c ON c.id = r.contents_id
        WHERE r.project_id = ${project}
        UNION ALL
        SELECT chain.name, c.id, c.base_id FROM chain JOIN release_contents c ON c.id = chain.base_id
      ) SELECT name, id FROM chain`;
    for (const { name, id } of links) push(names.#reached, id, name);
    for (const id of names.#reached.keys()) {
      const [row] = await sql<{ versions: string }[]>`
        SELECT array_to_string(versions, ' ') AS versions FROM release_contents WHERE id = ${id}`;
      for (const version of row?.versions.match(/\S+/g) ?? []) push(names.#naming, version, id);
    }
    return names;
  }

  /** A release holds the version if an odd number of contents in its chain list it. */
  of(version: string): string[] {
    const held = new Set<string>();
    for (const id of this.#naming.get(version) ?? []) {
      for (const name of this.#reached.get(id) ?? []) {
        if (!held.delete(name)) held.add(name);
      }
    }
    return [...held];
  }
}

function push(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

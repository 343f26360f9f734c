import type { Principal } from "../../auth/principal.ts";
import { joinMembership } from "../../auth/project-access.ts";
import type { Queryable } from "../../db/client.ts";
import type { Charge, StoredRow } from "../../db/quotas.ts";
import {
  LISTED_MAX_BYTES,
  PROJECT_ENVIRONMENTS_MAX,
  PROJECT_MEMBERS_MAX,
  PROJECT_RELEASES_MAX,
} from "../../domain/limits.ts";
import type { PageRange } from "../../domain/page-info.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { EnvironmentSummary, NewEnvironment, Project, ReleaseSummary } from "./schema.ts";

type Users = NonNullable<Project["users"]>;
type ProjectRow = RowOf<Omit<Project, "environments" | "releases" | "users">>;
type EnvironmentRow = RowOf<EnvironmentSummary>;
type UserRow = RowOf<Users[number]>;

/** The summaries of a project's environments, releases and members, as JSON. */
const SUMMARIES = `
  (SELECT coalesce(json_agg(e ORDER BY e.name), '[]') FROM (
    SELECT id, name, protected, domains, environment_variables, active_release_id, server_hostname
    FROM environments WHERE project_id = p.id
    ORDER BY name COLLATE "C" LIMIT ${PROJECT_ENVIRONMENTS_MAX}) e) AS environments,
  (SELECT coalesce(json_agg(r), '[]') FROM (
    SELECT id, name, export_status, build_status, deploy_status FROM releases
    WHERE project_id = p.id ORDER BY created_at DESC, name DESC
    LIMIT ${PROJECT_RELEASES_MAX}) r) AS releases,
  (SELECT coalesce(json_agg(u), '[]') FROM (
    SELECT u.id, u.email, u.name, j.role, u.avatar_src FROM memberships j
    JOIN users u ON u.id = j.user_id WHERE j.project_id = p.id
    ORDER BY j.role <> 'owner', j.created_at, u.id LIMIT ${PROJECT_MEMBERS_MAX}) u) AS users`;

/** The columns of a listed project. */
const LISTED = `id, slug, name, description, is_claimed, features, config, provider, layout, embedder,
  prompt_count, published_at, created_at, updated_at, environments, releases, users`;

interface ProjectValues {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  /** The project to copy config, features, provider and layout from; null for none. */
  readonly templateId: string | null;
  /** The fingerprint of its embedder; null for that of the template. */
  readonly embedder: string | null;
}

/** The caller's projects with this id or slug: two when id and slug disagree. */
export async function readTemplates(
  sql: Queryable,
  { userId }: Principal,
  id: string | null,
  slug: string | null,
) {
  return await sql<{ id: string; slug: string }[]>`
    SELECT p.id, p.slug FROM projects p
    JOIN memberships m ON m.project_id = p.id AND m.user_id = ${userId}
    WHERE p.id = ${id} OR p.slug = ${slug}`;
}

/** A project with everything that its representation contains. */
export interface FullProjectRow extends ProjectRow {
  environments: EnvironmentRow[];
  releases: ReleaseSummary[];
  users: UserRow[];
}

/** A project of a selection, and how many it has without the bound of a page's bytes. */
export interface FoundProjectRow extends FullProjectRow {
  readonly found: number;
}

/** The place of a project in the list of a caller. */
export type ProjectPosition = [slug: string];

/** A selection among the caller's projects. */
interface ProjectSelection extends PageRange<ProjectPosition> {
  readonly id?: string;
}

/**
 * The caller's projects in order of slug, or in reverse order before one; fewer, one at least, if their contents have
 * LISTED_MAX_BYTES. `found` counts them without that bound. A key bound to a project finds that project alone.
 *
 * Configurations are stored compressed. A configuration whose compressed size is too large is not expanded to measure
 * it.
 */
export async function readProjects(
  sql: Queryable,
  principal: Principal,
  { id, after, before, limit }: ProjectSelection,
): Promise<FoundProjectRow[]> {
  const order = sql`slug COLLATE "C" ${before === undefined ? sql`ASC` : sql`DESC`}`;
  return await sql<FoundProjectRow[]>`
    SELECT ${sql.unsafe(LISTED)}, found FROM (
      SELECT *, sum(bytes) OVER (ORDER BY ${order}) - bytes AS before FROM (
        SELECT *, octet_length(concat(description, features, config, environments, releases, users)) AS bytes
        FROM (
          SELECT p.*, ${sql.unsafe(SUMMARIES)} FROM (
            SELECT *, (count(*) OVER ())::integer AS found,
              sum(stored) OVER (ORDER BY ${order}) - stored AS stored_before
            FROM (
              SELECT p.*, pg_column_size(p.config) AS stored
              FROM projects p ${joinMembership(sql, principal)}
              WHERE m.role IS NOT NULL
                ${id === undefined ? sql`` : sql`AND p.id = ${id}`}
                ${after === undefined ? sql`` : sql`AND p.slug COLLATE "C" > ${after[0]}`}
                ${before === undefined ? sql`` : sql`AND p.slug COLLATE "C" < ${before[0]}`}
              ORDER BY ${order} LIMIT ${limit}
            ) first
          ) p WHERE stored_before < ${LISTED_MAX_BYTES}
        ) complete
      ) measured
    ) summed WHERE before < ${LISTED_MAX_BYTES} ORDER BY ${order}`;
}

/**
 * Throws `project-slug-taken`, immediately while the project that has the slug is being deleted. The constraint would
 * wait for the end of the deletion.
 */
export async function insertProject(sql: Queryable, values: ProjectValues): Promise<ProjectRow> {
  const { id, slug, name, description, templateId, embedder } = values;
  const [row] = await sql<ProjectRow[]>`
    INSERT INTO projects (id, slug, name, description, features, config, provider,
      layout, embedder, max_files, max_bytes, max_chunks)
    SELECT ${id}, ${slug}, ${name}, ${description}, coalesce(t.features, '{}'),
      coalesce(t.config, '{}'), t.provider, t.layout, coalesce(${embedder}, t.embedder),
      t.max_files, t.max_bytes, t.max_chunks
    FROM (SELECT) one LEFT JOIN projects t ON t.id = ${templateId}
    WHERE NOT EXISTS (SELECT FROM projects WHERE slug = ${slug})
    RETURNING id, slug, name, description, is_claimed, features, config, provider, layout, embedder,
      prompt_count, published_at, created_at, updated_at`;
  if (row === undefined) throw new Problem("project-slug-taken");
  return row;
}

/** Throws `embedder-mismatch` if chunks of a copied project were embedded by another embedder. */
export async function requireEmbedder(sql: Queryable, projectId: string, embedder: string) {
  const [other] = await sql<{ embedder: string | null }[]>`
    SELECT embedder FROM chunks WHERE project_id = ${projectId} AND embedding IS NOT NULL
      AND embedder IS DISTINCT FROM ${embedder} LIMIT 1`;
  if (other === undefined) return;
  const detail = `The template's chunks are by the embedder ${other.embedder ?? "none"}, not by ${embedder}.`;
  throw new Problem("embedder-mismatch", { detail });
}

export async function insertOwner(sql: Queryable, projectId: string, userId: string) {
  const [row] = await sql<UserRow[]>`
    WITH joined AS (
      INSERT INTO memberships (project_id, user_id, role) VALUES (${projectId}, ${userId}, 'owner')
      RETURNING user_id, role
    )
    SELECT u.id, u.email, u.name, j.role, u.avatar_src FROM joined j JOIN users u ON u.id = j.user_id`;
  return row as UserRow;
}

export async function insertEnvironment(
  sql: Queryable,
  projectId: string,
  { name, protected: isProtected = false, domains = [] }: NewEnvironment,
) {
  const [row] = await sql<[EnvironmentRow & StoredRow]>`
    INSERT INTO environments (id, project_id, name, protected, domains)
    VALUES (gen_random_uuid(), ${projectId}, ${name}, ${isProtected}, ${domains})
    RETURNING id, name, protected, domains, environment_variables, active_release_id,
      server_hostname, stored_bytes`;
  return row;
}

/** Copies a project's environments without their active releases. */
export async function copyEnvironments(sql: Queryable, from: string, to: string) {
  return await sql<EnvironmentRow[]>`
    INSERT INTO environments (id, project_id, name, protected, domains, environment_variables,
      server_hostname)
    SELECT gen_random_uuid(), ${to}, name, protected, domains, environment_variables,
      server_hostname
    FROM environments WHERE project_id = ${from}
    RETURNING id, name, protected, domains, environment_variables, active_release_id, server_hostname`;
}

/** The usage of a project that this transaction has created. */
export async function readStored(sql: Queryable, projectId: string): Promise<Charge> {
  const [stored] = await sql<[Charge]>`
    SELECT sum(files)::float8 AS files, sum(bytes)::float8 AS bytes, sum(chunks)::float8 AS chunks FROM (
      SELECT 0 AS files, stored_bytes AS bytes, 0 AS chunks FROM projects WHERE id = ${projectId}
      UNION ALL SELECT 0, stored_bytes, 0 FROM environments WHERE project_id = ${projectId}
      UNION ALL SELECT 0, stored_bytes, 0 FROM environment_files WHERE environment_id IN (
        SELECT id FROM environments WHERE project_id = ${projectId})
      UNION ALL SELECT 1, stored_bytes, 0 FROM files WHERE project_id = ${projectId}
      UNION ALL SELECT 0, v.stored_bytes, 0 FROM files f JOIN file_versions v ON v.file_id = f.id
        WHERE f.project_id = ${projectId}
      UNION ALL SELECT 0, stored_bytes, 1 FROM chunks WHERE project_id = ${projectId}) AS parts`;
  return stored;
}

/** The files that the environments of a project serve: those of an active release, or else of their working set. */
function servedFiles(sql: Queryable, projectId: string) {
  return sql`(
    SELECT e.name, w.file_id, w.file_version_id
    FROM environments e JOIN environment_files w ON w.environment_id = e.id
    WHERE e.project_id = ${projectId} AND e.active_release_id IS NULL
    UNION ALL
    SELECT e.name, r.file_id, r.file_version_id
    FROM environments e JOIN release_files r ON r.release_id = e.active_release_id
    WHERE e.project_id = ${projectId})`;
}

/**
 * Copies the files that all environments serve as their working sets, with versions and chunks. The id of a copy is
 * derived from the new project and the original, so that no join compares contents. The planner has no statistics of
 * the new rows, and would compare each with each. Environments are matched by name.
 */
export async function copyWorkingSets(sql: Queryable, from: string, to: string): Promise<void> {
  // A well-formed random UUID, as those of other rows.
  const copyOf = (column: string) => sql`overlay(overlay(md5(${to}::text || ${sql(column)}::text)
    placing '4' from 13) placing '8' from 17)::uuid`;
  await sql`
    INSERT INTO files (id, project_id, path)
    SELECT ${copyOf("f.id")}, ${to}, f.path FROM files f
    WHERE f.project_id = ${from} AND f.id IN (
      SELECT s.file_id FROM ${servedFiles(sql, from)} s)`;
  await sql`
    INSERT INTO file_versions (id, project_id, file_id, version_key, content, title, chunk_count,
      given_embeddings)
    SELECT ${copyOf("v.id")}, ${to}, ${copyOf("v.file_id")}, v.version_key, v.content, v.title, v.chunk_count,
      v.given_embeddings
    FROM file_versions v
    WHERE v.id IN (SELECT s.file_version_id FROM ${servedFiles(sql, from)} s)`;
  await sql`
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
      start_offset, end_offset, token_count, metadata, dimension, embedder, embedding)
    SELECT ${copyOf("c.id")}, ${to}, ${copyOf("c.file_id")}, ${copyOf("c.file_version_id")}, c.file_path,
      c.index, c.content, c.start_offset, c.end_offset, c.token_count, c.metadata,
      c.dimension, c.embedder, c.embedding
    FROM chunks c
    WHERE c.file_version_id IN (SELECT s.file_version_id FROM ${servedFiles(sql, from)} s)`;
  await sql`
    INSERT INTO embedding_queue (file_version_id, project_id)
    SELECT v.id, ${to} FROM file_versions v WHERE v.project_id = ${to}
      AND CASE WHEN v.chunk_count = 0 THEN has_text(v.content)
        ELSE EXISTS (SELECT FROM chunks c WHERE c.file_version_id = v.id AND c.embedding IS NULL) END`;
  await sql`
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
    SELECT ${to}, ne.id, ${copyOf("s.file_id")}, ${copyOf("s.file_version_id")}
    FROM ${servedFiles(sql, from)} s
    JOIN environments ne ON ne.project_id = ${to} AND ne.name = s.name`;
}

import { randomUUID } from "node:crypto";
import { generateKey, hashKey, parseKey } from "../src/auth/key-format.ts";
import type { Sql } from "../src/db/client.ts";

export interface Project {
  readonly id: string;
  readonly slug: string;
}

export interface ApiKey {
  readonly id: string;
  /** The key itself, as clients send it. */
  readonly key: string;
}

/** Adds a user and returns its id. */
export async function addUser(sql: Sql, email?: string): Promise<string> {
  const id = randomUUID();
  await sql`
    INSERT INTO users (id, email, name) VALUES (${id}, ${email ?? `${id}@example.com`}, 'Somebody')`;
  return id;
}

/** Adds an API key of a user. By default it has no scopes, is valid for all projects and never expires. */
export async function addApiKey(
  sql: Sql,
  userId: string,
  options: {
    readonly scopes?: readonly string[];
    readonly project?: Project;
    readonly expiresAt?: Date;
  } = {},
): Promise<ApiKey> {
  const id = randomUUID();
  const key = generateKey();
  const prefix = parseKey(key)?.keyPrefix as string;
  await sql`
    INSERT INTO api_keys (id, user_id, project_id, name, key_prefix, key_hash, scopes, expires_at)
    VALUES (${id}, ${userId}, ${options.project?.id ?? null}, 'a key', ${prefix},
      ${hashKey(key)}, ${[...(options.scopes ?? [])]}, ${options.expiresAt ?? null})`;
  return { id, key };
}

/** Adds an empty project that belongs to a user. */
export async function addProject(sql: Sql, ownerId: string, slug?: string): Promise<Project> {
  const id = randomUUID();
  const project = { id, slug: slug ?? `p-${id}` };
  await sql`INSERT INTO projects (id, slug, name) VALUES (${id}, ${project.slug}, 'A project')`;
  await addMember(sql, ownerId, project, "owner");
  return project;
}

/** Makes a user a member of a project in this role. */
export async function addMember(
  sql: Sql,
  userId: string,
  project: Project,
  role: string,
): Promise<void> {
  await sql`
    INSERT INTO memberships (project_id, user_id, role) VALUES (${project.id}, ${userId}, ${role})`;
}

/** An environment or a release. */
export interface NamedScope {
  readonly id: string;
  readonly name: string;
}

/** Adds an empty environment to a project. */
export async function addEnvironment(
  sql: Sql,
  project: Project,
  name = "production",
): Promise<NamedScope> {
  const id = randomUUID();
  await sql`INSERT INTO environments (id, project_id, name) VALUES (${id}, ${project.id}, ${name})`;
  return { id, name };
}

/** Adds an empty release to a project. */
export async function addRelease(sql: Sql, project: Project, name: string): Promise<NamedScope> {
  const id = randomUUID();
  await sql`INSERT INTO releases (id, project_id, name) VALUES (${id}, ${project.id}, ${name})`;
  return { id, name };
}

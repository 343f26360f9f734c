import { randomUUID } from "node:crypto";
import { actAs, OPERATOR } from "../../auth/audit/actor.ts";
import { generateKey, type ParsedKey, parseKey } from "../../auth/key-format.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { transaction } from "../../db/transaction.ts";
import { isUuid } from "../../domain/formats.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { insertApiKey } from "./queries.ts";

/** An API key as operators see it. */
export interface ListedKey {
  readonly id: string;
  readonly key_prefix: string;
  readonly name: string;
  readonly user: string;
  /** The slug of the only project; null for all of the user's. */
  readonly project: string | null;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

interface KeySelection {
  readonly userId?: string | undefined;
  readonly projectId?: string | undefined;
  /** An id, or the public part of a key. */
  readonly reference?: string | undefined;
  /** Revoked and expired keys too. */
  readonly all?: boolean | undefined;
}

/** API keys, the newest last. */
export async function listKeys(sql: Queryable, selection: KeySelection): Promise<ListedKey[]> {
  const { userId = null, projectId = null, reference = null, all = false } = selection;
  // No public part of a key looks like an id.
  const isNamed =
    reference === null
      ? sql``
      : isUuid(reference)
        ? sql`AND k.id = ${reference.toLowerCase()}`
        : sql`AND k.key_prefix = ${reference}`;
  return await sql<ListedKey[]>`
    SELECT k.id, k.key_prefix, k.name, coalesce(u.email, u.id::text) AS user, p.slug AS project,
      k.scopes, k.created_at, k.last_used_at, k.expires_at, k.revoked_at
    FROM api_keys k JOIN users u ON u.id = k.user_id LEFT JOIN projects p ON p.id = k.project_id
    WHERE (${userId}::uuid IS NULL OR k.user_id = ${userId})
      AND (${projectId}::uuid IS NULL OR k.project_id = ${projectId}) ${isNamed}
      AND (${all} OR (k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())))
    ORDER BY k.created_at, k.id`;
}

/** The address of the user of the first key. */
export async function ownerOfFirstKey(sql: Queryable): Promise<string | undefined> {
  const [first] = await sql<{ email: string }[]>`
    SELECT u.email FROM api_keys k JOIN users u ON u.id = k.user_id
    WHERE u.email IS NOT NULL ORDER BY k.created_at, k.id LIMIT 1`;
  return first?.email;
}

/** Whether the database has an API key, valid or not. */
export async function hasApiKeys(sql: Queryable): Promise<boolean> {
  const rows = await sql`SELECT FROM api_keys LIMIT 1`;
  return rows.length > 0;
}

interface ReplacedKey {
  readonly key_prefix: string;
  readonly user_id: string;
  readonly project_id: string | null;
  readonly name: string;
  readonly scopes: string[];
  readonly expires_at: Date | null;
}

/**
 * Creates a key with the rights of another one, which works for `graceSeconds` more. Returns the new
 * key. Throws `api-key-not-found`, also while the project of the key is being deleted.
 */
export async function rotateKey(sql: Sql, id: string, graceSeconds: number): Promise<string> {
  const key = generateKey();
  const { keyPrefix, hash } = parseKey(key) as ParsedKey;
  await transaction(sql, async (tx) => {
    const [replaced] = await tx<ReplacedKey[]>`
      SELECT key_prefix, user_id, project_id, name, scopes, expires_at FROM api_keys
      WHERE id = ${id} AND (project_id IS NULL OR lock_project(project_id))`;
    if (replaced === undefined) {
      const detail = "The key or its project no longer exists.";
      throw new Problem("api-key-not-found", { detail });
    }
    const {
      user_id: userId,
      project_id: projectId,
      name,
      scopes,
      expires_at: expiresAt,
    } = replaced;
    await actAs(tx, { ...OPERATOR, replaces: replaced.key_prefix });
    await insertApiKey(tx, {
      id: randomUUID(),
      userId,
      projectId,
      name,
      keyPrefix,
      keyHash: hash,
      scopes,
      expiresAt,
    });
    if (graceSeconds === 0) {
      await tx`UPDATE api_keys SET revoked_at = now(), updated_at = now() WHERE id = ${id}`;
    } else {
      // `least` ignores null, which means never.
      await tx`
        UPDATE api_keys SET updated_at = now(),
          expires_at = least(expires_at, now() + make_interval(secs => ${graceSeconds}))
        WHERE id = ${id}`;
    }
  });
  return key;
}

import type { Principal } from "../../auth/principal.ts";
import { OWNER } from "../../auth/roles.ts";
import type { Queryable } from "../../db/client.ts";
import { count, type StoredRow } from "../../db/quotas.ts";
import type { PageRange } from "../../domain/page-info.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { ApiKey } from "./schema.ts";

export type ApiKeyRow = RowOf<ApiKey>;

interface ApiKeyValues {
  readonly id: string;
  readonly userId: string;
  readonly projectId: string | null;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keyHash: Uint8Array;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

export async function insertApiKey(sql: Queryable, values: ApiKeyValues): Promise<ApiKeyRow> {
  const [row] = await sql<(ApiKeyRow & StoredRow)[]>`
    INSERT INTO api_keys (id, user_id, project_id, name, key_prefix, key_hash, scopes, expires_at)
    VALUES (${values.id}, ${values.userId}, ${values.projectId}, ${values.name},
      ${values.keyPrefix}, ${values.keyHash}, ${[...values.scopes]}, ${values.expiresAt})
    RETURNING id, project_id, user_id, name, key_prefix, last_used_at, expires_at, created_at,
      updated_at, scopes, stored_bytes`;
  const { stored_bytes: bytes, ...key } = row as ApiKeyRow & StoredRow;
  if (values.projectId !== null) await count(sql, values.projectId, { bytes });
  return key;
}

/** An API key of the caller that is not revoked. A key bound to a project finds only keys of that project. */
export async function readApiKey(sql: Queryable, { userId, projectId }: Principal, id: string) {
  const rows = await sql<ApiKeyRow[]>`
    SELECT id, project_id, user_id, name, key_prefix, last_used_at, expires_at, created_at,
      updated_at, scopes
    FROM api_keys WHERE id = ${id} AND user_id = ${userId} AND revoked_at IS NULL
      AND (${projectId}::uuid IS NULL OR project_id = ${projectId})`;
  return rows[0];
}

/** The position of a key in the listing, which is unique. */
export type KeyPosition = [name: string, id: string];

/**
 * The caller's keys that are not revoked, sorted by name, or in reverse order before a position. A key bound to a
 * project finds only keys of that project.
 */
export async function readApiKeys(
  sql: Queryable,
  { userId, projectId }: Principal,
  { after, before, limit }: PageRange<KeyPosition>,
): Promise<ApiKeyRow[]> {
  const order = before === undefined ? sql`ASC` : sql`DESC`;
  return await sql<ApiKeyRow[]>`
    SELECT id, project_id, user_id, name, key_prefix, last_used_at, expires_at, created_at,
      updated_at, scopes
    FROM api_keys WHERE user_id = ${userId} AND revoked_at IS NULL
      AND (${projectId}::uuid IS NULL OR project_id = ${projectId})
      ${after === undefined ? sql`` : sql`AND (name COLLATE "C", id) > (${after[0]}, ${after[1]}::uuid)`}
      ${before === undefined ? sql`` : sql`AND (name COLLATE "C", id) < (${before[0]}, ${before[1]}::uuid)`}
    ORDER BY name COLLATE "C" ${order}, id ${order} LIMIT ${limit}`;
}

/**
 * The expiry of the API key that makes the request; undefined if it was revoked meanwhile. The row
 * stays locked until the transaction ends, so that a key cannot create another one while it is
 * being revoked.
 */
export async function lockKeyInUse(sql: Queryable, id: string) {
  const rows = await sql<{ expires_at: Date | null }[]>`
    SELECT expires_at FROM api_keys WHERE id = ${id} AND revoked_at IS NULL FOR SHARE`;
  return rows[0];
}

/**
 * Revokes an API key of the caller, or one that is bound to a project of which the caller is an owner. A key bound to a
 * project revokes only keys of that project. A revoked key stays as it is. Returns false for an unknown key, and for
 * one whose project is being deleted.
 */
export async function revokeApiKey(
  sql: Queryable,
  { userId, projectId, isOperator }: Principal,
  id: string,
): Promise<boolean> {
  const rows = await sql`
    WITH found AS (
      SELECT k.id FROM api_keys k
      WHERE k.id = ${id} AND (${projectId}::uuid IS NULL OR k.project_id = ${projectId})
        AND (${isOperator === true} OR k.user_id = ${userId} OR EXISTS (
          SELECT FROM memberships m WHERE m.project_id = k.project_id AND m.user_id = ${userId}
            AND m.role = ${OWNER}))
        AND (k.project_id IS NULL OR lock_project(k.project_id))
    ), revoked AS (
      UPDATE api_keys k SET revoked_at = now(), updated_at = now()
      FROM found WHERE k.id = found.id AND k.revoked_at IS NULL
    )
    SELECT id FROM found`;
  return rows.length > 0;
}

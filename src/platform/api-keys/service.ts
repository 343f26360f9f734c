import { randomUUID } from "node:crypto";
import { actAs, actorOf, transactionAs } from "../../auth/audit/actor.ts";
import { generateKey, type ParsedKey, parseKey } from "../../auth/key-format.ts";
import { holds, type Principal } from "../../auth/principal.ts";
import { holdJoinedProject } from "../../auth/project-access.ts";
import { recordUser } from "../../auth/users.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { transaction } from "../../db/transaction.ts";
import { abbreviate } from "../../domain/abbreviate.ts";
import { parseDateTime } from "../../domain/formats.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { omitNulls, withTimes } from "../../domain/rows.ts";
import { type ListCall, type ListServices, readListing } from "../../http/pages.ts";
import {
  type ApiKeyRow,
  insertApiKey,
  type KeyPosition,
  lockKeyInUse,
  readApiKey,
  readApiKeys,
  revokeApiKey,
} from "./queries.ts";
import type { ApiKey, ApiKeyPage, CreatedApiKey, NewApiKey } from "./schema.ts";

/** The scopes of the new key: the requested ones, or else those of the caller. Throws if the caller lacks one. */
function scopesOf(principal: Principal, requested: readonly string[] = []): string[] {
  const missing = requested.find((scope) => !holds(principal, scope));
  if (missing !== undefined) {
    throw new Problem("permission-denied", {
      detail: `A key cannot hold the permission ${abbreviate(missing)}, which its creator lacks.`,
    });
  }
  return requested.length > 0 ? [...new Set(requested)] : [...(principal.scopes ?? [])];
}

/** The project of the new key: the requested one, or else that of the API key in use. */
async function projectOf(
  tx: Transaction,
  principal: Principal,
  requested: string | undefined,
): Promise<string | null> {
  const reference = requested ?? principal.projectId;
  return reference === null ? null : (await holdJoinedProject(tx, principal, reference)).id;
}

/** The expiry of the new key: the requested one, or else that of the API key in use. */
async function expiryOf(
  tx: Transaction,
  principal: Principal,
  requested: string | undefined,
): Promise<Date | null> {
  const expiry = requested === undefined ? null : parseDateTime(requested);
  if (expiry !== null && expiry.getTime() <= Date.now()) {
    throw invalid([{ field: "expires_at", message: "must be in the future" }]);
  }
  if (principal.keyId === null) return expiry;
  const inUse = await lockKeyInUse(tx, principal.keyId);
  if (inUse === undefined) throw new Problem("unauthorized");
  const limit = inUse.expires_at;
  if (limit !== null && expiry !== null && expiry > limit) {
    throw new Problem("permission-denied", {
      detail: "A key cannot outlive the key that creates it.",
    });
  }
  return expiry ?? limit;
}

/**
 * Creates an API key that acts as the caller and has no more rights than the credential in use.
 * The key itself appears only in the result. Throws `permission-denied` for a scope or an expiry
 * beyond the credential's, and `project-not-found`.
 */
export async function createApiKey(
  sql: Sql,
  principal: Principal,
  requestId: string,
  input: NewApiKey,
): Promise<CreatedApiKey> {
  const scopes = scopesOf(principal, input.scopes);
  const key = generateKey();
  const { keyPrefix, hash: keyHash } = parseKey(key) as ParsedKey;
  await recordUser(sql, principal);
  const row = await transaction(sql, async (tx) => {
    // Deleting a project locks the keys that are bound to it, so the project is held first.
    const projectId = await projectOf(tx, principal, input.project_id);
    const expiresAt = await expiryOf(tx, principal, input.expires_at);
    await actAs(tx, actorOf(principal, requestId));
    const { userId } = principal;
    const { name } = input;
    const id = randomUUID();
    return await insertApiKey(tx, {
      id,
      userId,
      projectId,
      name,
      keyPrefix,
      keyHash,
      scopes,
      expiresAt,
    });
  });
  const { last_used_at: _, updated_at: _updated, ...created } = row;
  return { ...omitNulls(withTimes(created)), key };
}

/** An API key of the caller, without its secret. Throws `api-key-not-found`. */
export async function getApiKey(sql: Queryable, principal: Principal, id: string): Promise<ApiKey> {
  const row = await readApiKey(sql, principal, id);
  if (row === undefined) throw new Problem("api-key-not-found");
  return withTimes(row);
}

/** One page of the caller's API keys in order of name, without secrets. Throws `invalid-cursor`. */
export async function listApiKeys(
  { sql, cursors }: ListServices,
  call: ListCall,
): Promise<ApiKeyPage> {
  const { principal } = call;
  return await readListing(cursors, call, {
    binding: `api-keys:${principal.userId}:${principal.projectId ?? ""}`,
    keyOf: ({ name, id }: ApiKeyRow): KeyPosition => [name, id],
    read: (range) => readApiKeys(sql, principal, range),
    itemOf: withTimes,
  });
}

/**
 * Revokes an API key of the caller, or one of a project that the caller owns, within
 * REVOCATION_BOUND_MS in every process. A key that is revoked already stays as it is. Throws
 * `api-key-not-found`.
 */
export async function deleteApiKey(
  sql: Sql,
  principal: Principal,
  requestId: string,
  id: string,
): Promise<void> {
  const found = await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    return await revokeApiKey(tx, principal, id);
  });
  if (!found) throw new Problem("api-key-not-found");
}

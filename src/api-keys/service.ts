import { randomUUID } from "node:crypto";
import { generateKey, type ParsedKey, parseKey } from "../auth/key-format.ts";
import { holds, type Principal } from "../auth/principal.ts";
import { findProject } from "../auth/project-access.ts";
import { ensureUser } from "../auth/users.ts";
import type { Queryable, Sql, Transaction } from "../db/client.ts";
import { transaction } from "../db/transaction.ts";
import { invalid, Problem } from "../problem/problem.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { parseDateTime, timestamp } from "../shared/formats.ts";
import { omitNulls } from "../shared/omit-nulls.ts";
import { insertApiKey, lockKeyInUse, readApiKey } from "./queries.ts";
import type { ApiKey, CreatedApiKey, NewApiKey } from "./schema.ts";

/** The scopes of the new key: never one that the caller lacks, and the caller's own where none are named. */
function scopesOf(principal: Principal, requested: readonly string[] = []): string[] {
  const lacking = requested.find((scope) => !holds(principal, scope));
  if (lacking !== undefined) {
    throw new Problem("permission-denied", {
      detail: `A key cannot hold the permission ${abbreviate(lacking)}, which its creator lacks.`,
    });
  }
  return requested.length > 0 ? [...new Set(requested)] : [...(principal.scopes ?? [])];
}

/** The project of the new key: the one named, or the one that the key in use is bound to. */
async function projectOf(
  tx: Transaction,
  principal: Principal,
  requested: string | undefined,
): Promise<string | null> {
  const id = requested?.toLowerCase() ?? principal.projectId;
  if (id === null) return null;
  const found = await findProject(tx, principal, id);
  // A project whose slug looks like this id is another one.
  if (found !== id) throw new Problem("project-not-found");
  return id;
}

/** When the new key ends: as asked for, and never after the key in use. */
async function expiryOf(
  tx: Transaction,
  principal: Principal,
  requested: string | undefined,
): Promise<Date | null> {
  const asked = requested === undefined ? null : parseDateTime(requested);
  if (asked !== null && asked.getTime() <= Date.now()) {
    throw invalid([{ field: "expires_at", message: "must be in the future" }]);
  }
  if (principal.keyId === null) return asked;
  const inUse = await lockKeyInUse(tx, principal.keyId);
  if (inUse === undefined) throw new Problem("unauthorized");
  const end = inUse.expires_at;
  if (end !== null && asked !== null && asked > end) {
    throw new Problem("permission-denied", {
      detail: "A key cannot outlive the key that creates it.",
    });
  }
  return asked ?? end;
}

/**
 * Makes an API key that acts as the caller and never gives more than the credential in use. The
 * answer is the only place where the key itself is ever shown. Throws `permission-denied` for a
 * permission or a lifetime that the creator lacks, `project-not-found`.
 */
export async function createApiKey(
  sql: Sql,
  principal: Principal,
  input: NewApiKey,
): Promise<CreatedApiKey> {
  const scopes = scopesOf(principal, input.scopes);
  const key = generateKey();
  const { keyPrefix, hash: keyHash } = parseKey(key) as ParsedKey;
  const row = await transaction(sql, async (tx) => {
    const expiresAt = await expiryOf(tx, principal, input.expires_at);
    const projectId = await projectOf(tx, principal, input.project_id);
    if (principal.keyId === null) await ensureUser(tx, principal);
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
  return omitNulls({
    id: row.id,
    project_id: row.project_id,
    user_id: row.user_id,
    name: row.name,
    key,
    key_prefix: row.key_prefix,
    expires_at: timestamp(row.expires_at),
    created_at: timestamp(row.created_at),
    scopes: row.scopes,
  });
}

/** An API key of the caller, without its secret. Throws `api-key-not-found`. */
export async function getApiKey(sql: Queryable, principal: Principal, id: string): Promise<ApiKey> {
  const row = await readApiKey(sql, principal, id);
  if (row === undefined) throw new Problem("api-key-not-found");
  return {
    ...row,
    last_used_at: timestamp(row.last_used_at),
    expires_at: timestamp(row.expires_at),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

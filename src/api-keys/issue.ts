import { randomUUID } from "node:crypto";
import { generateKey, type ParsedKey, parseKey } from "../auth/key-format.ts";
import { findOrCreateUser } from "../auth/users.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { transaction } from "../db/transaction.ts";
import { insertApiKey } from "./queries.ts";

interface KeyRequest {
  /** The email address of the user that the key acts as, who is created if unknown. */
  readonly email: string;
  readonly name: string;
  /** The only project that the key gives access to; absent: all projects of the user. */
  readonly projectId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
}

interface IssuedKey {
  /** The whole key. Only its hash is stored. */
  readonly key: string;
  readonly userCreated: boolean;
  /** False if the user is not a member of the key's project, so that the key gives no access yet. */
  readonly isMember: boolean;
}

/** Creates an API key on behalf of the operator, who needs no credential. */
export async function issueApiKey(sql: Sql, request: KeyRequest): Promise<IssuedKey> {
  const { email, name, projectId = null, scopes = [], expiresAt = null } = request;
  const key = generateKey();
  const { keyPrefix, hash: keyHash } = parseKey(key) as ParsedKey;
  return await transaction(sql, async (tx) => {
    const user = await findOrCreateUser(tx, email);
    await insertApiKey(tx, {
      ...{ id: randomUUID(), userId: user.id, projectId, name, keyPrefix, keyHash, expiresAt },
      scopes: [...new Set(scopes)],
    });
    const isMember = projectId === null || (await hasMembership(tx, projectId, user.id));
    return { key, userCreated: user.created, isMember };
  });
}

async function hasMembership(sql: Queryable, projectId: string, userId: string): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM memberships WHERE project_id = ${projectId} AND user_id = ${userId}`;
  return row !== undefined;
}

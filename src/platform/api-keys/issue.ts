import { randomUUID } from "node:crypto";
import { OPERATOR, transactionAs } from "../../auth/audit/actor.ts";
import { generateKey, type ParsedKey, parseKey } from "../../auth/key-format.ts";
import { findOrCreateUser } from "../../auth/users.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { holdProject, lockMembers } from "../../db/project-lock.ts";
import { checkOwners } from "../../db/quotas.ts";
import { insertApiKey } from "./queries.ts";

/** Default lifetime of a key that a command makes, in days: the key may stay in logs and files. */
export const PASSING_KEY_DAYS = 30;

const MS_PER_DAY = 86_400_000;

/** The end of a key of PASSING_KEY_DAYS that is made now. */
export function passingKeyEnd(): Date {
  return new Date(Date.now() + PASSING_KEY_DAYS * MS_PER_DAY);
}

interface KeyRequest {
  /** The email address of the user that the key acts as, who is created if unknown. */
  readonly email: string;
  readonly name: string;
  /** The only project that the key gives access to; absent: all projects of the user. */
  readonly projectId?: string | undefined;
  /** The role in the project for a user who is not yet a member; none by default. */
  readonly joinAs?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
}

interface IssuedKey {
  readonly id: string;
  /** The whole key. Only its hash is stored. */
  readonly key: string;
  readonly userCreated: boolean;
  /** True if the user has become a member of the key's project. */
  readonly joined: boolean;
}

/** Creates an API key on behalf of the operator, who needs no credential. */
export async function issueApiKey(sql: Sql, request: KeyRequest): Promise<IssuedKey> {
  const { email, name, projectId = null, scopes = [], expiresAt = null } = request;
  const key = generateKey();
  const { keyPrefix, hash: keyHash } = parseKey(key) as ParsedKey;
  return await transactionAs(sql, OPERATOR, async (tx) => {
    if (projectId !== null) await holdProject(tx, projectId);
    const user = await findOrCreateUser(tx, email);
    const id = randomUUID();
    await insertApiKey(tx, {
      id,
      userId: user.id,
      projectId,
      name,
      keyPrefix,
      keyHash,
      expiresAt,
      scopes: [...new Set(scopes)],
    });
    const joined =
      projectId !== null && request.joinAs !== undefined
        ? await joinProject(tx, projectId, user.id, request.joinAs)
        : false;
    return { id, key, userCreated: user.created, joined };
  });
}

/** Makes a user a member of a project. Returns false for a user who was one. */
async function joinProject(
  sql: Queryable,
  projectId: string,
  userId: string,
  role: string,
): Promise<boolean> {
  await lockMembers(sql, projectId);
  const result = await sql`
    INSERT INTO memberships (project_id, user_id, role) VALUES (${projectId}, ${userId}, ${role})
    ON CONFLICT DO NOTHING`;
  await checkOwners(sql, projectId);
  return result.count > 0;
}

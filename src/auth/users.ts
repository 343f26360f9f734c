import { randomUUID } from "node:crypto";
import { distance } from "fastest-levenshtein";
import pRetry from "p-retry";
import type { Queryable, Sql, Transaction } from "../db/client.ts";
import { uniqueViolation } from "../db/errors.ts";
import { transaction } from "../db/transaction.ts";
import { isStorable } from "../domain/formats.ts";
import { derivedId } from "../domain/uuid.ts";
import type { Identity, Principal } from "./principal.ts";

/** The address of the user who owns the first projects: the demo, and imported projects without an owner. */
export const FIRST_OWNER = "owner@localhost";

/** The longest name that is stored. A token may have a longer one, which no import would take. */
const USER_NAME_MAX_CHARS = 8_192;
/** The longest valid address. */
const USER_EMAIL_MAX_CHARS = 320;
/** An unknown address that differs from a known one by at most this many letters is a typo. */
const EMAIL_TYPO_DISTANCE = 2;

/** True for text that has the form of an address and can be stored. */
export function isAddress(text: string): boolean {
  return text.length <= USER_EMAIL_MAX_CHARS && /^[^@\s]+@[^@\s]+$/.test(text) && isStorable(text);
}

/**
 * The form in which addresses are compared: only the letters A to Z count as a to z. SQL uses `lower(email COLLATE
 * "C")`, because lower case in the database otherwise depends on its locale.
 */
export function addressKey(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The first key of the advisory lock on an address, before a hash of it. */
const ADDRESS_LOCK = 7306;
/** Attempts to store an address. An operator may give it to another user meanwhile, whom the next attempt finds. */
const ADDRESS_ATTEMPTS = 3;

/** The address of a row, and the statement that it comes from. */
interface StoredAddress {
  readonly id: string;
  readonly email: string | null;
  /** The time of issue of the token that stated the address or its absence; null for an operator's statement. */
  readonly statedAt: Date | null;
  /** True if the issuer of that token has verified the address. */
  readonly isVerified: boolean;
}

/**
 * Records a caller with a token as a user, and the address that the token states. An operator or an import may have
 * created the row before. The newest statement about an address counts, so the row follows the issuer: to another
 * address, to another user, or to null.
 */
export async function recordUser(sql: Sql, { userId, identity }: Principal): Promise<void> {
  if (identity === null) return;
  const { own, holder } = await readAddresses(sql, userId, identity);
  // Most requests neither lock nor write.
  if (own !== undefined && changeOf(own, holder, identity) === undefined) return;
  await pRetry(() => transaction(sql, (tx) => storeUser(tx, userId, identity)), {
    retries: ADDRESS_ATTEMPTS - 1,
    minTimeout: 0,
    shouldRetry: ({ error }) => uniqueViolation(error) === "users_address",
  });
}

/** Stores the name with a new row only. Characters that PostgreSQL cannot store are removed. */
async function storeUser(tx: Transaction, userId: string, identity: Identity): Promise<void> {
  const name = (identity.name ?? "").slice(0, USER_NAME_MAX_CHARS).replaceAll("\0", "");
  const { email: stated } = identity;
  // Concurrent callers who state the same address wait for each other.
  if (stated != null) {
    await tx`SELECT pg_advisory_xact_lock(${ADDRESS_LOCK}, hashtext(${addressKey(stated)}))`;
  }
  await tx`
    INSERT INTO users (id, name) VALUES (${userId}, ${name.toWellFormed()}) ON CONFLICT (id) DO NOTHING`;
  const { own, holder } = await readAddresses(tx, userId, identity, true);
  const email = changeOf(own as StoredAddress, holder, identity);
  if (email === undefined) return;
  if (email !== null && holder !== undefined) {
    await tx`UPDATE users SET email = NULL, email_verified = false WHERE id = ${holder.id}`;
  }
  await tx`
    UPDATE users SET email = ${email}, email_stated_at = ${identity.issuedAt},
      email_verified = ${email !== null && identity.isVerified} WHERE id = ${userId}`;
}

/** The row of a user, and that of another user who has the stated address. */
async function readAddresses(
  sql: Queryable,
  userId: string,
  { email }: Identity,
  locks = false,
): Promise<{ own: StoredAddress | undefined; holder: StoredAddress | undefined }> {
  // Rows are locked in the order of their ids, so that two users who exchange addresses do not deadlock.
  const rows = await sql<StoredAddress[]>`
    SELECT id, email, email_stated_at AS "statedAt", email_verified AS "isVerified" FROM users
    WHERE id = ${userId} OR lower(email COLLATE "C") = ${email == null ? null : addressKey(email)}
    ORDER BY id ${locks ? sql`FOR NO KEY UPDATE` : sql``}`;
  const isOwn = ({ id }: StoredAddress) => id === userId;
  return { own: rows.find(isOwn), holder: rows.find((row) => !isOwn(row)) };
}

/** The new address of a row after a statement, null to remove it; undefined if it stays. */
function changeOf(
  own: StoredAddress,
  holder: StoredAddress | undefined,
  stated: Identity,
): string | null | undefined {
  const { email, isVerified, issuedAt } = stated;
  if (email === undefined || (own.statedAt !== null && own.statedAt > issuedAt)) return undefined;
  if (email === null || (holder !== undefined && keepsAddress(holder, stated))) {
    // An address from an operator stays until a token names another one.
    return own.email === null || own.statedAt === null ? undefined : null;
  }
  return own.email === email && (own.isVerified || !isVerified) ? undefined : email;
}

/**
 * A user with a verified address keeps it unless another user has verified it since. A user with an assumed address
 * keeps it unless a newer token states it. Tokens are issued in whole seconds: the later verification in one second
 * counts.
 */
function keepsAddress(holder: StoredAddress, { isVerified, issuedAt }: Identity): boolean {
  if (holder.statedAt === null) return false;
  if (holder.isVerified !== isVerified) return holder.isVerified;
  return isVerified ? holder.statedAt > issuedAt : holder.statedAt >= issuedAt;
}

/** The id of the user with this email address. A missing user is created. */
export async function findOrCreateUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; created: boolean }> {
  const name = email.slice(0, email.indexOf("@"));
  // An import of this user derives the same id. A user who has another address now may have that id.
  for (const id of [derivedId("user", "", addressKey(email)), randomUUID()]) {
    const inserted = await sql`
      INSERT INTO users (id, email, name) VALUES (${id}, ${email}, ${name}) ON CONFLICT DO NOTHING`;
    if (inserted.count > 0) return { id, created: true };
    const user = await findUser(sql, email);
    if (user !== undefined) return { id: user.id, created: false };
  }
  throw new Error(`no user can be created for ${email}`);
}

/** The user with this email address, in any case. */
export async function findUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; email: string } | undefined> {
  const [user] = await sql<{ id: string; email: string }[]>`
    SELECT id, email FROM users WHERE lower(email COLLATE "C") = ${addressKey(email)}`;
  return user;
}

/** The address of a user that differs from this one by at most EMAIL_TYPO_DISTANCE letters. */
export async function similarAddress(sql: Queryable, email: string): Promise<string | undefined> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users
    WHERE length(email) BETWEEN ${email.length - EMAIL_TYPO_DISTANCE}
      AND ${email.length + EMAIL_TYPO_DISTANCE}`;
  const wanted = addressKey(email);
  return rows.find((row) => distance(addressKey(row.email), wanted) <= EMAIL_TYPO_DISTANCE)?.email;
}

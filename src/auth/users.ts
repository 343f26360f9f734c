import { randomUUID } from "node:crypto";
import { distance } from "fastest-levenshtein";
import pRetry from "p-retry";
import type { Queryable, Sql, Transaction } from "../db/client.ts";
import { uniqueViolation } from "../db/errors.ts";
import { transaction } from "../db/transaction.ts";
import { isStorable } from "../shared/formats.ts";
import { derivedId } from "../shared/uuid.ts";
import type { Identity, Principal } from "./principal.ts";

/** The address of the user who owns the first projects: the demo, and what is imported without an owner. */
export const FIRST_OWNER = "owner@localhost";

/** The longest valid address. */
const USER_EMAIL_MAX_CHARS = 320;
/** An unknown address that differs from a known one by at most this many letters is a typo. */
const EMAIL_TYPO_DISTANCE = 2;

/** True for text that has the form of an address and can be stored. */
export function isAddress(text: string): boolean {
  return text.length <= USER_EMAIL_MAX_CHARS && /^[^@\s]+@[^@\s]+$/.test(text) && isStorable(text);
}

/**
 * The form in which addresses are compared. In them, and only in them, the letters A to Z count as a to z. The
 * database has its own idea of lower case, which depends on its locale, so SQL says `lower(email COLLATE "C")`.
 */
export function addressKey(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The first key of the advisory lock on an address, before a hash of it. */
const ADDRESS_LOCK = 7306;
/** An operator who gives the address to another user meets the caller in its index, and is found there next time. */
const ADDRESS_ATTEMPTS = 3;

/** The address of a row, and what stated it. */
interface StoredAddress {
  readonly id: string;
  readonly email: string | null;
  /** When the token was issued that stated the address, or that there is none; null for an operator's statement. */
  readonly statedAt: Date | null;
  /** True if the issuer of that token has verified the address. */
  readonly isVerified: boolean;
}

/**
 * Records a caller with a token as a user, and the address that the token states. Users get their row so, unless an
 * operator or an import has made it. The newest statement about an address counts, so it follows the issuer: to another
 * address, to another user, and to none.
 */
export async function recordUser(sql: Sql, { userId, identity }: Principal): Promise<void> {
  if (identity === null) return;
  const { own, holder } = await readAddresses(sql, userId, identity);
  // Nothing is locked or written by most requests.
  if (own !== undefined && changeOf(own, holder, identity) === undefined) return;
  await pRetry(() => transaction(sql, (tx) => storeUser(tx, userId, identity)), {
    retries: ADDRESS_ATTEMPTS - 1,
    minTimeout: 0,
    shouldRetry: ({ error }) => uniqueViolation(error) === "users_address",
  });
}

/** A name is stored with the row, without what cannot be stored. */
async function storeUser(tx: Transaction, userId: string, identity: Identity): Promise<void> {
  const name = (identity.name ?? "").replaceAll("\0", "").toWellFormed();
  const { email: stated } = identity;
  // Callers who state one address at once follow each other.
  if (stated != null) {
    await tx`SELECT pg_advisory_xact_lock(${ADDRESS_LOCK}, hashtext(${addressKey(stated)}))`;
  }
  await tx`INSERT INTO users (id, name) VALUES (${userId}, ${name}) ON CONFLICT (id) DO NOTHING`;
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
  // Locked in the order of their ids, so that two users who exchange addresses do not wait for each other.
  const rows = await sql<StoredAddress[]>`
    SELECT id, email, email_stated_at AS "statedAt", email_verified AS "isVerified" FROM users
    WHERE id = ${userId} OR lower(email COLLATE "C") = ${email == null ? null : addressKey(email)}
    ORDER BY id ${locks ? sql`FOR NO KEY UPDATE` : sql``}`;
  const isOwn = ({ id }: StoredAddress) => id === userId;
  return { own: rows.find(isOwn), holder: rows.find((row) => !isOwn(row)) };
}

/** The address that a row gets by a statement, null for none; undefined if it stays as it is. */
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
 * A user who has verified an address keeps it unless another one has verified it since, and a user who is assumed to
 * have it unless a newer token states it. Tokens are issued in whole seconds: the later verification in one counts.
 */
function keepsAddress(holder: StoredAddress, { isVerified, issuedAt }: Identity): boolean {
  if (holder.statedAt === null) return false;
  if (holder.isVerified !== isVerified) return holder.isVerified;
  return isVerified ? holder.statedAt > issuedAt : holder.statedAt >= issuedAt;
}

/** The id of the user with this email address, who is created if there is none. */
export async function findOrCreateUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; created: boolean }> {
  const name = email.slice(0, email.indexOf("@"));
  // An import of this user derives the same id. It may be that of a user who has another address now.
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

/** An address of a user that is easily mistyped as this one. */
export async function similarAddress(sql: Queryable, email: string): Promise<string | undefined> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users
    WHERE length(email) BETWEEN ${email.length - EMAIL_TYPO_DISTANCE}
      AND ${email.length + EMAIL_TYPO_DISTANCE}`;
  const wanted = addressKey(email);
  return rows.find((row) => distance(addressKey(row.email), wanted) <= EMAIL_TYPO_DISTANCE)?.email;
}

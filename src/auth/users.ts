import { randomUUID } from "node:crypto";
import { distance } from "fastest-levenshtein";
import type { Queryable } from "../db/client.ts";
import { isStorable } from "../shared/formats.ts";
import { derivedId } from "../shared/uuid.ts";
import type { Principal } from "./principal.ts";

/** The address of the user who owns the first projects: the demo, and what is imported without an owner. */
export const FIRST_OWNER = "owner@localhost";

/** The longest valid address: longer ones in a token are ignored. */
const USER_EMAIL_MAX_CHARS = 320;
/** An unknown address that differs from a known one by at most this many letters is a typo. */
const EMAIL_TYPO_DISTANCE = 2;

/** True for an address in a token's claims that can be stored. */
const isAddress = (claim: string): boolean =>
  claim.length <= USER_EMAIL_MAX_CHARS && isStorable(claim);

/**
 * The form in which addresses are compared. In them, and only in them, the letters A to Z count as a to z. The
 * database has its own idea of lower case, which depends on its locale, so SQL says `lower(email COLLATE "C")`.
 */
export function addressKey(email: string): string {
  return email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Inserts the caller's row unless it exists. Users with tokens get one with their first write, from
 * the token's claims, which their issuer has written. A name is stored without what cannot be stored. An email
 * address that is too long, cannot be stored or belongs to another user is left out.
 */
export async function ensureUser(sql: Queryable, principal: Principal): Promise<void> {
  const { userId } = principal;
  const email = principal.email !== null && isAddress(principal.email) ? principal.email : null;
  const name = (principal.name ?? "").replaceAll("\0", "").toWellFormed();
  const inserted = await sql`
    INSERT INTO users (id, email, name) VALUES (${userId}, ${email}, ${name})
    ON CONFLICT DO NOTHING`;
  if (inserted.count > 0 || email === null) return;
  await sql`INSERT INTO users (id, name) VALUES (${userId}, ${name}) ON CONFLICT (id) DO NOTHING`;
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

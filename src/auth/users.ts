import type { Queryable } from "../db/client.ts";
import { derivedId } from "../shared/uuid.ts";
import type { Principal } from "./principal.ts";

/** The longest valid address: longer ones in a token are ignored. */
const USER_EMAIL_MAX_CHARS = 320;

function storable(claim: string | null): string | null {
  return claim?.replaceAll("\0", "") ?? null;
}

/**
 * Inserts the caller's row unless it exists. Users with tokens get one with their first write, from
 * the token's claims. An email address that is too long or belongs to another user is left out.
 */
export async function ensureUser(sql: Queryable, principal: Principal): Promise<void> {
  const { userId } = principal;
  const claimed = storable(principal.email);
  const email = claimed !== null && claimed.length <= USER_EMAIL_MAX_CHARS ? claimed : null;
  const name = storable(principal.name) ?? "";
  const inserted = await sql`
    INSERT INTO users (id, email, name) VALUES (${userId}, ${email}, ${name})
    ON CONFLICT DO NOTHING`;
  if (inserted.count > 0 || email === null) return;
  await sql`INSERT INTO users (id, name) VALUES (${userId}, ${name}) ON CONFLICT (id) DO NOTHING`;
}

export interface KnownUser {
  readonly id: string;
  readonly email: string;
}

/** The user with this email address, in any case. */
export async function userOfAddress(sql: Queryable, email: string): Promise<KnownUser | undefined> {
  const [user] = await sql<KnownUser[]>`
    SELECT id, email FROM users WHERE lower(email) = lower(${email})`;
  return user;
}

/** The addresses of users whose length differs from a given one by at most `difference`. */
export async function addressesOfLength(
  sql: Queryable,
  length: number,
  difference: number,
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users
    WHERE length(email) BETWEEN ${length - difference} AND ${length + difference}`;
  return rows.map(({ email }) => email);
}

/** The address of the user of the first API key. */
export async function addressOfFirstKey(sql: Queryable): Promise<string | undefined> {
  const [first] = await sql<{ email: string }[]>`
    SELECT u.email FROM api_keys k JOIN users u ON u.id = k.user_id
    WHERE u.email IS NOT NULL ORDER BY k.created_at, k.id LIMIT 1`;
  return first?.email;
}

/** The id of the user with this email address, who is created if there is none. */
export async function findOrCreateUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; created: boolean }> {
  // An import of this user derives the same id.
  const id = derivedId("user", "", email.toLowerCase());
  const name = email.slice(0, email.indexOf("@"));
  const [created] = await sql<{ id: string }[]>`
    INSERT INTO users (id, email, name) VALUES (${id}, ${email}, ${name})
    ON CONFLICT DO NOTHING RETURNING id`;
  if (created !== undefined) return { id, created: true };
  const known = await userOfAddress(sql, email);
  if (known === undefined) {
    throw new Error(`the id derived from ${email} belongs to another user`);
  }
  return { id: known.id, created: false };
}

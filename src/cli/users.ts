import { distance } from "fastest-levenshtein";
import type { Queryable } from "../db/client.ts";
import { CommandError } from "./command-error.ts";

/** An unknown address that differs from a known one by at most this many letters is a typo. */
const EMAIL_TYPO_DISTANCE = 2;

interface User {
  readonly id: string;
  readonly email: string;
}

/** The user with this email address, in any case. Throws a CommandError if there is none. */
export async function findUser(sql: Queryable, email: string): Promise<User> {
  const [user] = await sql<User[]>`
    SELECT id, email FROM users WHERE lower(email) = lower(${email})`;
  if (user !== undefined) return user;
  const similar = await similarAddress(sql, email);
  throw new CommandError(`there is no user ${email}${hint(similar)}`);
}

/** Throws a CommandError if there is no such user, but one whose address is easily mistyped as it. */
export async function refuseTypo(sql: Queryable, email: string): Promise<void> {
  const [known] = await sql`SELECT FROM users WHERE lower(email) = lower(${email})`;
  if (known !== undefined) return;
  const similar = await similarAddress(sql, email);
  if (similar === undefined) return;
  throw new CommandError(`there is no user ${email}${hint(similar)} --create makes a new user`);
}

async function similarAddress(sql: Queryable, email: string): Promise<string | undefined> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users
    WHERE length(email) BETWEEN ${email.length - EMAIL_TYPO_DISTANCE}
      AND ${email.length + EMAIL_TYPO_DISTANCE}`;
  const wanted = email.toLowerCase();
  return rows.find((row) => distance(row.email.toLowerCase(), wanted) <= EMAIL_TYPO_DISTANCE)
    ?.email;
}

function hint(similar: string | undefined): string {
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

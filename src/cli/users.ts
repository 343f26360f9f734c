import { findUser, similarAddress } from "../auth/users.ts";
import type { Queryable } from "../db/client.ts";
import { CommandError } from "./command-error.ts";

/** The user with this email address, in any case. Throws a CommandError if there is none. */
export async function requireUser(
  sql: Queryable,
  email: string,
): Promise<{ id: string; email: string }> {
  const user = await findUser(sql, email);
  if (user !== undefined) return user;
  throw new CommandError(`there is no user ${email}${hint(await similarAddress(sql, email))}`);
}

/** Throws a CommandError if there is no such user, but one whose address is easily mistyped as it. */
export async function refuseTypo(sql: Queryable, email: string): Promise<void> {
  if ((await findUser(sql, email)) !== undefined) return;
  const similar = await similarAddress(sql, email);
  if (similar === undefined) return;
  throw new CommandError(`there is no user ${email}${hint(similar)} --create makes a new user`);
}

function hint(similar: string | undefined): string {
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

import { distance } from "fastest-levenshtein";
import { addressesOfLength, type KnownUser, userOfAddress } from "../auth/users.ts";
import type { Queryable } from "../db/client.ts";
import { CommandError } from "./command-error.ts";

/** An unknown address that differs from a known one by at most this many letters is a typo. */
const EMAIL_TYPO_DISTANCE = 2;

/** The user with this email address, in any case. Throws a CommandError if there is none. */
export async function findUser(sql: Queryable, email: string): Promise<KnownUser> {
  const user = await userOfAddress(sql, email);
  if (user !== undefined) return user;
  const similar = await similarAddress(sql, email);
  throw new CommandError(`there is no user ${email}${hint(similar)}`);
}

/** Throws a CommandError if there is no such user, but one whose address is easily mistyped as it. */
export async function refuseTypo(sql: Queryable, email: string): Promise<void> {
  if ((await userOfAddress(sql, email)) !== undefined) return;
  const similar = await similarAddress(sql, email);
  if (similar === undefined) return;
  throw new CommandError(`there is no user ${email}${hint(similar)} --create makes a new user`);
}

async function similarAddress(sql: Queryable, email: string): Promise<string | undefined> {
  const addresses = await addressesOfLength(sql, email.length, EMAIL_TYPO_DISTANCE);
  const wanted = email.toLowerCase();
  return addresses.find((each) => distance(each.toLowerCase(), wanted) <= EMAIL_TYPO_DISTANCE);
}

function hint(similar: string | undefined): string {
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

import { OWNER, type Role } from "../auth/roles.ts";
import { addressKey, findUser, similarAddress } from "../auth/users.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { referenceTo } from "../domain/reference.ts";
import { commandName } from "../ops/config/caller.ts";
import { issueApiKey, passingKeyEnd } from "../platform/api-keys/issue.ts";
import { readMembers } from "../platform/members/queries.ts";
import { CommandError } from "./command-error.ts";
import type { Project } from "./database.ts";

/**
 * The user with this email address, in any case. Throws a CommandError for an unknown address.
 *
 * @param remedy a sentence about how to create the user
 */
export async function requireUser(
  sql: Queryable,
  email: string,
  remedy = "",
): Promise<{ id: string; email: string }> {
  const user = await findUser(sql, email);
  if (user !== undefined) return user;
  const found = `there is no user ${email}${hint(await similarAddress(sql, email))}`;
  throw new CommandError(remedy === "" ? found : `${found}; ${remedy}`);
}

/** Throws a CommandError if the address is unknown, but similar to a known one. */
export async function refuseTypo(sql: Queryable, email: string): Promise<void> {
  if ((await findUser(sql, email)) !== undefined) return;
  const similar = await similarAddress(sql, email);
  if (similar === undefined) return;
  throw new CommandError(`there is no user ${email}${hint(similar)} --create makes a new user`);
}

/** A key for a project alone, of the user with this address or else of a member, for PASSING_KEY_DAYS. */
export async function passingKey(
  sql: Sql,
  { id: projectId, slug }: Project,
  {
    email: given,
    name,
    scopes,
  }: { email?: string | undefined; name: string; scopes?: readonly string[] },
) {
  const members = given === undefined ? await readMembers(sql, projectId) : [];
  const email = given ?? members.find((member) => member.email !== null)?.email;
  if (email == null) {
    throw new CommandError(`${slug} has no member with an address whom a key could belong to`);
  }
  const expiresAt = passingKeyEnd();
  const { key } = await issueApiKey(sql, { email, name, projectId, scopes, expiresAt });
  return { key, email, expiresAt };
}

/** The role that a user has in a project; undefined for none. */
async function roleIn(sql: Sql, project: Project, email: string): Promise<string | undefined> {
  const members = await readMembers(sql, project.id);
  const key = addressKey(email);
  return members.find((each) => each.email !== null && addressKey(each.email) === key)?.role;
}

const remedy = (email: string, project: Project, role: Role) =>
  `${commandName()} members add ${email} --project ${referenceTo(project)} --role ${role}`;

/** Throws a CommandError if the user does not own the project, which exists: an import changes no members. */
export async function requireOwner(sql: Sql, project: Project, email: string): Promise<void> {
  if ((await roleIn(sql, project, email)) === OWNER) return;
  throw new CommandError(
    `${project.slug} exists and ${email} is not an owner of it, which --owner does not change: ${remedy(email, project, OWNER)}`,
  );
}

/** Throws a CommandError if the user is a member with another role: only a new member gets the named one. */
export async function requireRole(
  sql: Sql,
  project: Project,
  email: string,
  role: Role,
): Promise<void> {
  const present = await roleIn(sql, project, email);
  if (present === undefined || present === role) return;
  throw new CommandError(
    `${email} is ${present} of ${project.slug} already, which --role does not change: ${remedy(email, project, role)}`,
  );
}

function hint(similar: string | undefined): string {
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

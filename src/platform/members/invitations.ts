import type { Principal } from "../../auth/principal.ts";
import { projectNamed } from "../../auth/project-reference.ts";
import { OWNER, type Role } from "../../auth/roles.ts";
import { addressKey, isAddress } from "../../auth/users.ts";
import type { Queryable } from "../../db/client.ts";
import { isUuid } from "../../domain/formats.ts";
import { invalid } from "../../domain/problem/problem.ts";

/** Maximum pending invitations of a project; a further one replaces the oldest. */
const INVITATIONS_MAX = 500;
/** How long an invitation can be accepted, in days. */
const INVITATION_DAYS = 30;
/**
 * Maximum invitations listed for an invited user. Inviters share them, so that one inviter cannot hide those of
 * another.
 */
export const INVITATIONS_LISTED_MAX = 100;

/** The form in which invited users are stored. Throws `validation-failed` for a reference that cannot name a user. */
export function inviteeOf(reference: string): string {
  if (isUuid(reference)) return reference.toLowerCase();
  if (isAddress(reference)) return addressKey(reference);
  const message = "must be the id or the email address of a user";
  throw invalid([{ field: "user_id", message }]);
}

/**
 * Invites the user whom `invitee` names, or changes the role of the invitation. Returns its time. Returns undefined if
 * the inviting user does not own the project; an owner remains one until the transaction ends.
 */
export async function invite(
  sql: Queryable,
  projectId: string,
  by: string,
  { invitee, role }: { readonly invitee: string; readonly role: Role },
): Promise<Date | undefined> {
  const [row] = await sql<{ since: Date }[]>`
    INSERT INTO invitations (project_id, invitee, role, invited_by)
    SELECT m.project_id, ${invitee}, ${role}, m.user_id FROM memberships m
    WHERE m.project_id = ${projectId} AND m.user_id = ${by} AND m.role = ${OWNER} FOR SHARE
    ON CONFLICT (project_id, invitee) DO UPDATE
      SET role = excluded.role, invited_by = excluded.invited_by, created_at = now()
    RETURNING created_at AS since`;
  await sql`
    DELETE FROM invitations WHERE (project_id, invitee) IN (
      SELECT project_id, invitee FROM invitations WHERE project_id = ${projectId}
      ORDER BY created_at DESC, invitee OFFSET ${INVITATIONS_MAX})`;
  return row?.since;
}

/** Withdraws an invitation. Returns false for an unknown one. */
export async function withdraw(
  sql: Queryable,
  projectId: string,
  invitee: string,
): Promise<boolean> {
  const { count } = await sql`
    DELETE FROM invitations WHERE project_id = ${projectId} AND invitee = ${invitee}`;
  return count > 0;
}

/** The id of the caller, and the address unless the token in use states that the user has no verified one. */
const namesOf = (sql: Queryable, { userId, identity }: Principal) => sql`
  SELECT ${userId}::text UNION ALL
  SELECT lower(email COLLATE "C") FROM users
  WHERE id = ${userId} AND email IS NOT NULL AND ${identity?.email !== null}`;

const isOpen = (sql: Queryable) =>
  sql`i.created_at > now() - make_interval(days => ${INVITATION_DAYS})`;

/**
 * The condition under which the caller can accept the invitation with the alias `i`. A key that is bound to a project
 * does not reach others.
 */
const isAcceptable = (sql: Queryable, principal: Principal) => sql`
  ${principal.projectId === null} AND i.invitee IN (${namesOf(sql, principal)}) AND ${isOpen(sql)}
  AND NOT EXISTS (
    SELECT FROM memberships m WHERE m.project_id = i.project_id AND m.user_id = ${principal.userId})`;

/** The id of the project to which the caller, whom `invitee` names, is invited. */
export async function findInvitingProject(
  sql: Queryable,
  principal: Principal,
  reference: string,
  invitee: string,
): Promise<string | undefined> {
  const project = await projectNamed(sql, reference);
  if (project === undefined) return undefined;
  const [row] = await sql`
    SELECT 1 FROM invitations i WHERE i.project_id = ${project.id}
      AND ${invitee} IN (${namesOf(sql, principal)}) AND ${isAcceptable(sql, principal)} LIMIT 1`;
  return row === undefined ? undefined : project.id;
}

/** A role that an invitation offers, and the user who offers it. */
export interface Offer {
  readonly role: string;
  readonly invited_by: string;
}

/**
 * Deletes the caller's invitations to a project, and returns their offers by role. There are at most two invitations,
 * one by id and one by address.
 */
export async function takeInvitations(
  sql: Queryable,
  principal: Principal,
  projectId: string,
): Promise<Offer[]> {
  return await sql<Offer[]>`
    WITH taken AS (
      DELETE FROM invitations i
      WHERE i.project_id = ${projectId} AND ${isAcceptable(sql, principal)} RETURNING i.*)
    SELECT DISTINCT ON (role) role, invited_by FROM taken ORDER BY role, created_at DESC`;
}

interface InvitationRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly invitee: string;
  readonly role: string;
  readonly inviter: string;
  readonly since: Date;
}

/** The invitations that the caller can accept, the newest first. */
export async function readInvitations(
  sql: Queryable,
  principal: Principal,
): Promise<InvitationRow[]> {
  return await sql<InvitationRow[]>`
    WITH turns AS (
      SELECT i.*, row_number() OVER (PARTITION BY i.invited_by ORDER BY i.created_at DESC) AS turn
      FROM invitations i WHERE ${isAcceptable(sql, principal)}),
    shown AS (SELECT * FROM turns ORDER BY turn, created_at DESC LIMIT ${INVITATIONS_LISTED_MAX})
    SELECT p.id, p.slug, p.name, i.invitee, i.role, coalesce(u.email, u.name) AS inviter,
      i.created_at AS since
    FROM shown i JOIN projects p ON p.id = i.project_id JOIN users u ON u.id = i.invited_by
    ORDER BY i.created_at DESC, p.id, i.invitee`;
}

/**
 * The invitations of a project that can be accepted, by invitee. An invitation of an address that has become that of a
 * member is left out: withdrawing it would remove the member.
 */
export async function readPending(
  sql: Queryable,
  projectId: string,
): Promise<{ user: string; role: string; since: Date }[]> {
  return await sql<{ user: string; role: string; since: Date }[]>`
    SELECT i.invitee AS user, i.role, i.created_at AS since FROM invitations i
    WHERE i.project_id = ${projectId} AND ${isOpen(sql)} AND i.invitee NOT IN (
      SELECT lower(u.email COLLATE "C") FROM memberships m JOIN users u ON u.id = m.user_id
      WHERE m.project_id = ${projectId} AND u.email IS NOT NULL)
    ORDER BY i.invitee`;
}

/** The id of the member whom the reference names. Other users are not looked up. */
export async function findMemberId(
  sql: Queryable,
  projectId: string,
  invitee: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    SELECT u.id FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId}
      AND (u.id::text = ${invitee} OR lower(u.email COLLATE "C") = ${invitee})`;
  return row?.id;
}

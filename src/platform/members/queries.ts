import { OWNER, type Role } from "../../auth/roles.ts";
import type { Queryable } from "../../db/client.ts";
import type { PageRange } from "../../domain/page-info.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { ProjectMember } from "./schema.ts";

/** A member of a project. */
export type Member = RowOf<ProjectMember>;

/** The place of a member in the list, which is unique. */
export type MemberPosition = [isOther: boolean, label: string, id: string];

/** Where a member is in the list. */
export const positionOf = ({ role, email, id }: Member): MemberPosition => [
  role !== OWNER,
  email ?? id,
  id,
];

/** The members of a project, all or a page, owners first, by address, or in reverse order before a place. */
export async function readMembers(
  sql: Queryable,
  projectId: string,
  { before, after, limit }: Partial<PageRange<MemberPosition>> = {},
): Promise<Member[]> {
  const order = before === undefined ? sql`ASC` : sql`DESC`;
  const label = sql`coalesce(u.email, u.id::text) COLLATE "C"`;
  const place = sql`(m.role <> ${OWNER}, ${label}, u.id)`;
  const at = ([isOther, text, id]: MemberPosition) => sql`(${isOther}, ${text}, ${id}::uuid)`;
  return await sql<Member[]>`
    SELECT u.email, u.id, u.name, m.role, m.created_at AS since
    FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND ${place} > ${at(after)}`}
      ${before === undefined ? sql`` : sql`AND ${place} < ${at(before)}`}
    ORDER BY m.role <> ${OWNER} ${order}, ${label} ${order}, u.id ${order}
    LIMIT ${limit ?? null}`;
}

/** A member by their id. */
export async function readMember(
  sql: Queryable,
  projectId: string,
  userId: string,
): Promise<Member | undefined> {
  const [member] = await sql<Member[]>`
    SELECT u.email, u.id, u.name, m.role, m.created_at AS since
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${projectId} AND m.user_id = ${userId}`;
  return member;
}

/** The role of a user, and whether others own the project. */
export async function readStanding(
  sql: Queryable,
  projectId: string,
  userId: string,
): Promise<{ role: string | null; hasOtherOwners: boolean }> {
  const [row] = await sql<{ role: string | null; hasOtherOwners: boolean }[]>`
    SELECT max(role) FILTER (WHERE user_id = ${userId}) AS role,
      coalesce(bool_or(role = ${OWNER} AND user_id <> ${userId}), false) AS "hasOtherOwners"
    FROM memberships WHERE project_id = ${projectId}`;
  return row as { role: string | null; hasOtherOwners: boolean };
}

export async function storeMember(
  sql: Queryable,
  projectId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await sql`
    INSERT INTO memberships (project_id, user_id, role) VALUES (${projectId}, ${userId}, ${role})
    ON CONFLICT (user_id, project_id) DO UPDATE SET role = excluded.role`;
}

export async function deleteMember(
  sql: Queryable,
  projectId: string,
  userId: string,
): Promise<void> {
  await sql`DELETE FROM memberships WHERE project_id = ${projectId} AND user_id = ${userId}`;
}

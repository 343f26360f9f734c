import type { Queryable, Transaction } from "../db/client.ts";
import { gone } from "../db/project-lock.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { Principal } from "./principal.ts";
import { readNamedProject } from "./project-reference.ts";
import { mayWrite, OWNER } from "./roles.ts";

/** A project that the caller is a member of. */
export interface Membership {
  readonly id: string;
  readonly slug: string;
  /** The caller's role in the project. */
  readonly role: string;
  /** True if the project or its owners have a quota. */
  readonly limited: boolean;
}

/**
 * Joins the membership `m` of the caller in the project `p`, unless the credential is bound to another project. The
 * operator owns every project.
 */
export function joinMembership(sql: Queryable, { userId, projectId, isOperator }: Principal) {
  if (isOperator) return sql`LEFT JOIN (SELECT ${OWNER}::text AS role) m ON true`;
  return sql`LEFT JOIN memberships m ON m.project_id = p.id AND m.user_id = ${userId}
    AND (${projectId}::uuid IS NULL OR p.id = ${projectId})`;
}

/**
 * The project that the reference names, if the caller is a member and the credential gives
 * access to it. Throws `project-not-found` otherwise, for any reason.
 *
 * @param holds true to keep the project from being deleted until the transaction ends
 */
async function findMembership(
  sql: Queryable,
  principal: Principal,
  reference: string,
  holds = false,
): Promise<Membership> {
  const held = holds ? sql`lock_project(p.id)` : sql`true`;
  type Found = Omit<Membership, "role"> & { readonly role: string | null; readonly held: boolean };
  const row = await readNamedProject(
    sql,
    reference,
    (isNamed) => sql<Found[]>`
      SELECT p.id, p.slug, m.role, CASE WHEN m.role IS NOT NULL THEN ${held} ELSE false END AS held,
        num_nonnulls(p.max_files, p.max_bytes, p.max_chunks) > 0
          OR EXISTS (SELECT FROM quota_defaults) AS limited
      FROM projects p ${joinMembership(sql, principal)} WHERE ${isNamed}`,
  );
  if (row === undefined || row.role === null || !row.held) {
    throw principal.isOperator ? gone() : new Problem("project-not-found");
  }
  return { ...row, role: row.role };
}

type FindProject<S> = (sql: S, principal: Principal, reference: string) => Promise<Membership>;

function requireWriter(membership: Membership): Membership {
  if (mayWrite(membership.role)) return membership;
  throw new Problem("permission-denied", {
    detail: "This needs the role owner or editor in the project.",
  });
}

function requireOwner(membership: Membership): Membership {
  if (membership.role === OWNER) return membership;
  throw new Problem("permission-denied", {
    detail: "This needs the role owner in the project.",
  });
}

/** The project, if the caller's role allows to change its contents, else `permission-denied`. */
export const findWritableProject: FindProject<Queryable> = async (...project) =>
  requireWriter(await findMembership(...project));

/** The project, if the caller owns it, else `permission-denied`. */
export const findOwnedProject: FindProject<Queryable> = async (...project) =>
  requireOwner(await findMembership(...project));

/**
 * A project that the caller is a member of, for a transaction that writes to it: the project is not deleted
 * before the transaction ends. Throws `project-not-found`, also while it is being deleted.
 */
export const holdJoinedProject: FindProject<Transaction> = (...project) =>
  findMembership(...project, true);

/** As `findWritableProject`, for a transaction that writes to the project, which is not deleted before its end. */
export const holdWritableProject: FindProject<Transaction> = async (...project) =>
  requireWriter(await holdJoinedProject(...project));

/** As `findOwnedProject`, for a transaction that writes to the project, which is not deleted before its end. */
export const holdOwnedProject: FindProject<Transaction> = async (...project) =>
  requireOwner(await holdJoinedProject(...project));

/** The id of the project that `findMembership` finds. */
export async function findProject(
  sql: Queryable,
  principal: Principal,
  reference: string,
): Promise<string> {
  return (await findMembership(sql, principal, reference)).id;
}

/** The subset of these project ids that the caller has access to, as for `findProject`. */
export async function findProjects(
  sql: Queryable,
  principal: Principal,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT p.id FROM projects p ${joinMembership(sql, principal)}
    WHERE p.id = ANY (${ids as string[]}::uuid[]) AND m.role IS NOT NULL`;
  return new Set(rows.map(({ id }) => id));
}

import { actorOf, transactionAs } from "../../audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { findOwnedProject, findProject, holdJoinedProject } from "../../auth/project-access.ts";
import { findUserId } from "../../auth/users.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type PageRequest, readListing } from "../../http/pages.ts";
import { Problem } from "../../problem/problem.ts";
import { timestamp } from "../../shared/formats.ts";
import { omitNulls } from "../../shared/omit-nulls.ts";
import { putMember, removeMember } from "./change.ts";
import {
  lockMembers,
  type Member,
  type MemberPosition,
  positionOf,
  readMember,
  readMembers,
} from "./queries.ts";
import type { MemberChange, MemberPage, ProjectMember } from "./schema.ts";

const memberOf = ({ since, ...row }: Member): ProjectMember =>
  omitNulls({ ...row, since: timestamp(since) });

/** One page of a project's members. Throws `project-not-found` and `invalid-cursor`. */
export async function listMembers(
  { sql, cursors }: { readonly sql: Sql; readonly cursors: CursorSigner },
  principal: Principal,
  reference: string,
  page: PageRequest,
): Promise<MemberPage> {
  const projectId = await findProject(sql, principal, reference);
  const { rows, pageInfo } = await readListing<Member, MemberPosition>(cursors, page, {
    binding: `members:${projectId}`,
    keyOf: positionOf,
    after: (after, limit) => readMembers(sql, projectId, { ...(after && { after }), limit }),
    before: (before, limit) => readMembers(sql, projectId, { before, limit }),
  });
  return { data: rows.map(memberOf), page_info: pageInfo };
}

interface ChangeCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly params: { readonly project_reference: string; readonly user_id: string };
}

async function changing<T>(
  sql: Sql,
  { principal, requestId, params }: ChangeCall,
  work: (tx: Transaction, projectId: string, userId: string) => Promise<T>,
): Promise<T> {
  return await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id } = await holdJoinedProject(tx, principal, params.project_reference);
    // The caller may have been removed by a change that came first.
    await lockMembers(tx, id);
    await findOwnedProject(tx, principal, id);
    const userId = await findUserId(tx, params.user_id);
    if (userId === undefined) throw new Problem("user-not-found");
    return await work(tx, id, userId);
  });
}

/**
 * Makes a user a member, or changes their role. Throws `project-not-found`, `permission-denied` for all but
 * owners, `user-not-found` and `last-owner`.
 */
export async function setMember(
  sql: Sql,
  call: ChangeCall,
  { role }: MemberChange,
): Promise<{ member: ProjectMember; added: boolean }> {
  return await changing(sql, call, async (tx, projectId, userId) => {
    const outcome = await putMember(tx, projectId, userId, role);
    if (outcome === "last-owner") throw new Problem("last-owner");
    const member = memberOf((await readMember(tx, projectId, userId)) as Member);
    return { member, added: outcome === "added" };
  });
}

/** Ends a membership. Throws the same problems as `setMember`; `user-not-found` also when the user is not a member. */
export async function endMembership(sql: Sql, call: ChangeCall): Promise<void> {
  await changing(sql, call, async (tx, projectId, userId) => {
    const outcome = await removeMember(tx, projectId, userId);
    if (outcome === "last-owner") throw new Problem("last-owner");
    if (outcome === "none") throw new Problem("user-not-found");
  });
}

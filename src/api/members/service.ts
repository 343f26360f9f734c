import { actorOf, transactionAs } from "../../audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { findOwnedProject, findProject, holdJoinedProject } from "../../auth/project-access.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { holdProject } from "../../db/project-lock.ts";
import { type ListServices, type PageRequest, readListing } from "../../http/pages.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import { timestamp } from "../../shared/formats.ts";
import { omitNulls, withTimes } from "../../shared/rows.ts";
import { putMember, removeMember } from "./change.ts";
import {
  findMemberId,
  invite,
  inviteeOf,
  readInvitations,
  readPending,
  takeInvitation,
  withdraw,
} from "./invitations.ts";
import {
  lockMembers,
  type Member,
  type MemberPosition,
  positionOf,
  readMember,
  readMembers,
} from "./queries.ts";
import type {
  InvitationList,
  MemberChange,
  MemberPage,
  MemberState,
  ProjectMember,
} from "./schema.ts";

const memberOf = (row: Member): ProjectMember => omitNulls(withTimes(row));

/** One page of a project's members. Throws `project-not-found` and `invalid-cursor`. */
export async function listMembers(
  { sql, cursors }: ListServices,
  principal: Principal,
  reference: string,
  page: PageRequest,
): Promise<MemberPage> {
  const projectId = await findProject(sql, principal, reference);
  const pending = await readPending(sql, projectId);
  const { rows, pageInfo } = await readListing<Member, MemberPosition>(cursors, page, {
    binding: `members:${projectId}`,
    keyOf: positionOf,
    read: (range) => readMembers(sql, projectId, range),
  });
  return { data: rows.map(memberOf), invited: pending.map(withTimes), page_info: pageInfo };
}

interface ChangeCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly params: { readonly project_reference: string; readonly user_id: string };
}

/** What the call is about, for its owner: the project, and the member whom it names, if they are one. */
interface OwnedMember {
  readonly projectId: string;
  readonly invitee: string;
  readonly memberId: string | undefined;
}

/** Runs a change in a transaction. Throws what a caller gets who does not own the project. */
async function changing<T>(
  sql: Sql,
  { principal, requestId, params }: ChangeCall,
  byInvited: (tx: Transaction, projectId: string, role: string) => Promise<T>,
  byOwner: (tx: Transaction, of: OwnedMember) => Promise<T>,
): Promise<T> {
  const { project_reference: reference } = params;
  return await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const invitee = inviteeOf(params.user_id);
    const own = await takeInvitation(tx, principal, reference, invitee);
    if (own !== undefined) {
      await holdProject(tx, own.projectId);
      return await byInvited(tx, own.projectId, own.role);
    }
    const { id } = await holdJoinedProject(tx, principal, reference);
    // The caller may have been removed by a change that came first.
    await lockMembers(tx, id);
    await findOwnedProject(tx, principal, id);
    const memberId = await findMemberId(tx, id, invitee);
    return await byOwner(tx, { projectId: id, invitee, memberId });
  });
}

/**
 * Changes the role of a member, or invites whom the call names, whether there is such a user or not. An invited
 * user who names themselves and the role becomes a member. Throws `validation-failed`, `project-not-found`,
 * `permission-denied` for all but owners, `last-owner` and `quota-exceeded`.
 */
export async function setMember(
  sql: Sql,
  call: ChangeCall,
  { role }: MemberChange,
): Promise<{ member: MemberState; added: boolean }> {
  const stored = async (tx: Transaction, projectId: string, userId: string) => {
    const outcome = await putMember(tx, projectId, userId, role);
    if (outcome === "last-owner") throw new Problem("last-owner");
    const member = memberOf((await readMember(tx, projectId, userId)) as Member);
    return { member: { ...member, status: "member" as const }, added: outcome === "added" };
  };
  const { userId } = call.principal;
  return await changing<{ member: MemberState; added: boolean }>(
    sql,
    call,
    async (tx, projectId, offered) => {
      if (role !== offered) {
        throw invalid([{ field: "role", message: `must be ${offered}, as in the invitation` }]);
      }
      return await stored(tx, projectId, userId);
    },
    async (tx, { projectId, invitee, memberId }) => {
      if (memberId !== undefined) return await stored(tx, projectId, memberId);
      const since = timestamp(await invite(tx, projectId, userId, { invitee, role }));
      return { member: { user: invitee, role, status: "invited", since }, added: true };
    },
  );
}

/**
 * Ends a membership, withdraws an invitation, or declines it for the invited user. Throws the same problems as
 * `setMember`, and `user-not-found` for who is neither a member nor invited.
 */
export async function endMembership(sql: Sql, call: ChangeCall): Promise<void> {
  await changing<void>(
    sql,
    call,
    async () => {},
    async (tx, { projectId, invitee, memberId }) => {
      if (memberId === undefined) {
        if (await withdraw(tx, projectId, invitee)) return;
        throw new Problem("user-not-found");
      }
      const outcome = await removeMember(tx, projectId, memberId);
      if (outcome === "last-owner") throw new Problem("last-owner");
      if (outcome === "none") throw new Problem("user-not-found");
    },
  );
}

/** The invitations of the caller. */
export async function listInvitations(sql: Sql, principal: Principal): Promise<InvitationList> {
  const rows = await readInvitations(sql, principal);
  return {
    data: rows.map(({ id, slug, name, invitee, since, ...row }) => ({
      ...{ project: { id, slug, name }, user: invitee, since: timestamp(since) },
      ...row,
    })),
  };
}

import { actAs, actorOf, transactionAs } from "../../auth/audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { findOwnedProject, findProject, holdJoinedProject } from "../../auth/project-access.ts";
import { OWNER, type Role } from "../../auth/roles.ts";
import { findUser, recordUser } from "../../auth/users.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { holdProject, lockMembers } from "../../db/project-lock.ts";
import { checkOwners } from "../../db/quotas.ts";
import { timestamp } from "../../domain/formats.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { omitNulls, withTimes } from "../../domain/rows.ts";
import { type ListServices, type ProjectListCall, readListing } from "../../http/pages.ts";
import {
  findInvitingProject,
  findMemberId,
  invite,
  inviteeOf,
  type Offer,
  readInvitations,
  readPending,
  takeInvitations,
  withdraw,
} from "./invitations.ts";
import {
  deleteMember,
  type Member,
  positionOf,
  readMember,
  readMembers,
  readStanding,
  storeMember,
} from "./queries.ts";
import type {
  InvitationList,
  MemberChange,
  MemberPage,
  MemberState,
  ProjectMember,
} from "./schema.ts";

/** `last-owner`: the project would be left without an owner, so nothing changed. */
type Refused = "last-owner";

/** Makes a user a member of a project, or changes their role. */
export async function putMember(
  tx: Transaction,
  projectId: string,
  userId: string,
  role: Role,
): Promise<"added" | "changed" | "unchanged" | Refused> {
  await lockMembers(tx, projectId);
  const { role: earlier, hasOtherOwners } = await readStanding(tx, projectId, userId);
  if (earlier === role) return "unchanged";
  if (earlier === OWNER && !hasOtherOwners) return "last-owner";
  await storeMember(tx, projectId, userId, role);
  if (role === OWNER) await checkOwners(tx, projectId);
  return earlier === null ? "added" : "changed";
}

/** Ends a membership. `none`: the user is not a member. */
export async function removeMember(
  tx: Transaction,
  projectId: string,
  userId: string,
): Promise<"removed" | "none" | Refused> {
  await lockMembers(tx, projectId);
  const { role, hasOtherOwners } = await readStanding(tx, projectId, userId);
  if (role === null) return "none";
  if (role === OWNER && !hasOtherOwners) return "last-owner";
  await deleteMember(tx, projectId, userId);
  return "removed";
}

const memberOf = (row: Member): ProjectMember => omitNulls(withTimes(row));

/** One page of a project's members. Throws `project-not-found` and `invalid-cursor`. */
export async function listMembers(
  { sql, cursors }: ListServices,
  call: ProjectListCall,
): Promise<MemberPage> {
  const projectId = await findProject(sql, call.principal, call.params.project_reference);
  const pending = await readPending(sql, projectId);
  const { data, page_info } = await readListing(cursors, call, {
    binding: `members:${projectId}`,
    keyOf: positionOf,
    read: (range) => readMembers(sql, projectId, range),
    itemOf: memberOf,
  });
  return { data, invited: pending.map(withTimes), page_info };
}

interface ChangeCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly params: { readonly project_reference: string; readonly user_id: string };
}

/** A change of the members of a project. Changes of one project follow one another. */
interface BegunChange {
  readonly projectId: string;
  /** The user whom the call names, in the form in which invitations do. */
  readonly invitee: string;
  /** The offers of the caller's own invitations, which the change ends; none if the caller has to own the project. */
  readonly offers: readonly Offer[];
}

/** Begins a change in its transaction. Throws `validation-failed` and `project-not-found`. */
async function beginChange(
  tx: Transaction,
  { principal, params }: ChangeCall,
): Promise<BegunChange> {
  const { project_reference: reference } = params;
  const invitee = inviteeOf(params.user_id);
  const inviting = await findInvitingProject(tx, principal, reference, invitee);
  if (inviting !== undefined) {
    await holdProject(tx, inviting);
    await lockMembers(tx, inviting);
    const offers = await takeInvitations(tx, principal, inviting);
    // A change that came first may have withdrawn or accepted them.
    if (offers.length > 0) return { projectId: inviting, invitee, offers };
  }
  const { id } = await holdJoinedProject(tx, principal, reference);
  await lockMembers(tx, id);
  return { projectId: id, invitee, offers: [] };
}

/** Runs a change in a transaction, after the claims of the caller's token are recorded. */
async function changing<T>(
  sql: Sql,
  call: ChangeCall,
  change: (tx: Transaction, of: BegunChange) => Promise<T>,
): Promise<T> {
  await recordUser(sql, call.principal);
  return await transactionAs(sql, actorOf(call.principal, call.requestId), async (tx) =>
    change(tx, await beginChange(tx, call)),
  );
}

interface MemberAnswer {
  readonly member: MemberState;
  readonly added: boolean;
}

/** Stores a role. Throws `last-owner` and `quota-exceeded`. */
async function storeRole(
  tx: Transaction,
  projectId: string,
  userId: string,
  role: Role,
): Promise<MemberAnswer> {
  const outcome = await putMember(tx, projectId, userId, role);
  if (outcome === "last-owner") throw new Problem("last-owner");
  const member = memberOf((await readMember(tx, projectId, userId)) as Member);
  return { member: { ...member, status: "member" }, added: outcome === "added" };
}

/** Lets the audit log name the user whose offer the caller accepts. Throws `validation-failed` for another role. */
async function accept(
  tx: Transaction,
  { principal, requestId }: ChangeCall,
  offers: readonly Offer[],
  role: Role,
): Promise<void> {
  const offer = offers.find((each) => each.role === role);
  if (offer === undefined) {
    const message = `must be ${offers.map((each) => each.role).join(" or ")}, as in the invitation`;
    throw invalid([{ field: "role", message }]);
  }
  await actAs(tx, { ...actorOf(principal, requestId), invited_by: offer.invited_by });
}

/** The id of the member whom a call names. The operator names any user, who becomes a member without an invitation. */
async function findNamedId(
  tx: Transaction,
  { isOperator }: Principal,
  projectId: string,
  invitee: string,
): Promise<string | undefined> {
  if (!isOperator) return await findMemberId(tx, projectId, invitee);
  const user = await findUser(tx, invitee);
  if (user === undefined) throw new Problem("user-not-found");
  return user.id;
}

/**
 * Changes the role of a member, or invites the user whom the call names, also an unknown one. An invited user who names
 * their own id and an offered role becomes a member. The same request repeated changes no rows. Throws
 * `validation-failed`, `project-not-found`, `permission-denied` for all but owners, `last-owner` and `quota-exceeded`.
 */
export async function setMember(
  sql: Sql,
  call: ChangeCall,
  { role }: MemberChange,
): Promise<MemberAnswer> {
  const { principal } = call;
  const { userId } = principal;
  return await changing(sql, call, async (tx, { projectId, invitee, offers }) => {
    if (offers.length > 0) {
      await accept(tx, call, offers, role);
      return await storeRole(tx, projectId, userId, role);
    }
    const memberId = await findNamedId(tx, principal, projectId, invitee);
    const isOwn = memberId === userId;
    const repeats = isOwn && (await readMember(tx, projectId, userId))?.role === role;
    // The caller may have been removed by a change that came first.
    if (!repeats) await findOwnedProject(tx, principal, projectId);
    if (memberId !== undefined) return await storeRole(tx, projectId, memberId, role);
    const since = await invite(tx, projectId, userId, { invitee, role });
    if (since === undefined) throw new Problem("permission-denied");
    const member = { user: invitee, role, status: "invited", since: timestamp(since) } as const;
    return { member, added: true };
  });
}

/**
 * Ends a membership, withdraws an invitation, or declines all invitations of the caller to the project. Throws the same
 * problems as `setMember`, and `user-not-found` for a user who is neither a member nor invited.
 */
export async function endMembership(sql: Sql, call: ChangeCall): Promise<void> {
  await changing(sql, call, async (tx, { projectId, invitee, offers }) => {
    if (offers.length > 0) return;
    await findOwnedProject(tx, call.principal, projectId);
    const memberId = await findMemberId(tx, projectId, invitee);
    if (memberId === undefined) {
      if (await withdraw(tx, projectId, invitee)) return;
      throw new Problem("user-not-found");
    }
    const outcome = await removeMember(tx, projectId, memberId);
    if (outcome === "last-owner") throw new Problem("last-owner");
    if (outcome === "none") throw new Problem("user-not-found");
  });
}

/** The invitations of the caller. */
export async function listInvitations(sql: Sql, principal: Principal): Promise<InvitationList> {
  await recordUser(sql, principal);
  const rows = await readInvitations(sql, principal);
  return {
    data: rows.map(({ id, slug, name, invitee, since, ...row }) => ({
      project: { id, slug, name },
      user: invitee,
      since: timestamp(since),
      ...row,
    })),
  };
}

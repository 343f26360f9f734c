import { OWNER, type Role } from "../../auth/roles.ts";
import type { Transaction } from "../../db/client.ts";
import { lockMembers } from "../../db/project-lock.ts";
import { checkOwners } from "../../db/quotas.ts";
import { deleteMember, readStanding, storeMember } from "./queries.ts";

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

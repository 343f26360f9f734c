import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import type { Queryable } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";
import { timestamp } from "../../shared/formats.ts";
import { omitNulls } from "../../shared/rows.ts";
import { blockersOf, protectionOf } from "./merge-rules.ts";
import { type ApprovalRow, readBranch, type StatusCheckRow } from "./queries.ts";
import type { Approval, Eligibility, StatusCheck } from "./schema.ts";

function utcTimestamp(text: string): string {
  return timestamp(new Date(text));
}

function approvalOf(row: ApprovalRow): Approval {
  return omitNulls({
    ...row,
    approved_at: utcTimestamp(row.approved_at),
    dismissed_at: row.dismissed_at === null ? null : utcTimestamp(row.dismissed_at),
  });
}

function statusCheckOf(row: StatusCheckRow): StatusCheck {
  const { created_at, updated_at } = row;
  return omitNulls({
    ...row,
    created_at: utcTimestamp(created_at),
    updated_at: utcTimestamp(updated_at),
  });
}

/** Whether a branch can be merged. Throws `project-not-found` or `branch-not-found`. */
export async function getEligibility(
  sql: Queryable,
  principal: Principal,
  reference: string,
  branchId: string,
): Promise<Eligibility> {
  const projectId = await findProject(sql, principal, reference);
  const branch = await readBranch(sql, projectId, branchId);
  if (branch === undefined) throw new Problem("branch-not-found");
  const approvals = branch.approvals.map(approvalOf);
  const checks = branch.status_checks.map(statusCheckOf);
  const blockers = blockersOf(protectionOf(branch.protection), approvals, checks);
  return { can_merge: blockers.length === 0, approvals, status_checks: checks, blockers };
}

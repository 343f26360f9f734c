import type { Principal } from "../auth/principal.ts";
import { findProject } from "../auth/project-access.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { timestamp } from "../domain/formats.ts";
import { Problem } from "../domain/problem/problem.ts";
import { omitNulls } from "../domain/rows.ts";
import { type Operation, operation } from "../http/operation.ts";
import { blockersOf, protectionOf } from "../platform/branches/merge-rules.ts";
import { type ApprovalRow, readBranch, type StatusCheckRow } from "../platform/branches/queries.ts";
import {
  type Approval,
  Eligibility,
  EligibilityParams,
  type StatusCheck,
} from "../platform/branches/schema.ts";

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
async function getEligibility(
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

const BRANCH_ID = "5c3f1a90-7b2d-4e68-9a4c-3d2e1f0a9b8c";
const CHECK_ID = "9e8d7c6b-5a4f-4e3d-8c2b-1a0f9e8d7c6b";
const EXAMPLE: Eligibility = {
  can_merge: false,
  approvals: [
    {
      id: "2d4b6f8a-1c3e-4a5b-9d7f-0e2c4a6b8d1f",
      branch_id: BRANCH_ID,
      approved_by: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
      approved_at: "2026-01-05T09:30:00.000Z",
      comment: "Looks good.",
    },
  ],
  status_checks: [
    {
      id: CHECK_ID,
      branch_id: BRANCH_ID,
      check_name: "tests",
      status: "pending",
      created_at: "2026-01-05T09:28:00.000Z",
      updated_at: "2026-01-05T09:28:00.000Z",
    },
  ],
  blockers: [
    {
      type: "statusCheckPending",
      message: "Check tests has not finished.",
      details: { check_name: "tests", status_check_id: CHECK_ID },
    },
  ],
};

/** GET /projects/{project_reference}/branches/{branchId}/eligibility. */
export function branchOperations({ sql }: { sql: Sql }): Operation[] {
  return [
    operation({
      id: "getBranchEligibility",
      method: "GET",
      path: "/projects/{project_reference}/branches/{branchId}/eligibility",
      tag: "Branches",
      summary: "Check whether a branch can be merged",
      permission: "branches.read",
      params: EligibilityParams,
      response: Eligibility,
      responseExample: EXAMPLE,
      problems: ["validation-failed", "project-not-found", "branch-not-found"],
      handle: ({ params, principal }) =>
        getEligibility(sql, principal, params.project_reference, params.branchId),
    }),
  ];
}

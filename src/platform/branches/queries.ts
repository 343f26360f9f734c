import type { Queryable } from "../../db/client.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { Approval, StatusCheck } from "./schema.ts";

export type ApprovalRow = RowOf<Approval, string>;
export type StatusCheckRow = RowOf<StatusCheck, string>;

interface BranchRow {
  /** `config.branch_protection` of the project, not validated. */
  protection: unknown;
  approvals: ApprovalRow[];
  status_checks: StatusCheckRow[];
}

/**
 * A branch with everything that decides whether it can be merged, read in one snapshot. Timestamps
 * are strings in PostgreSQL's ISO format, because they are read as JSON.
 */
export async function readBranch(sql: Queryable, projectId: string, branchId: string) {
  const rows = await sql<BranchRow[]>`
    SELECT p.config -> 'branch_protection' AS protection,
      (SELECT coalesce(json_agg(a ORDER BY a.approved_at, a.id), '[]') FROM (
        SELECT id, branch_id, approved_by, approved_at, comment, dismissed_at, dismissed_by, dismissed_reason
        FROM branch_approvals WHERE branch_id = b.id) a) AS approvals,
      (SELECT coalesce(json_agg(s ORDER BY s.check_name COLLATE "C"), '[]') FROM (
        SELECT id, branch_id, check_name, status, description, external_url, created_at, updated_at
        FROM status_checks WHERE branch_id = b.id) s) AS status_checks
    FROM branches b JOIN projects p ON p.id = b.project_id
    WHERE b.id = ${branchId} AND b.project_id = ${projectId}`;
  return rows[0];
}

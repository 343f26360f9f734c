import type { Queryable } from "../../db/client.ts";
import type { RowOf } from "../../shared/rows.ts";
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
      (SELECT coalesce(json_agg(a ORDER BY a.approved_at, a.id), '[]')
        FROM branch_approvals a WHERE a.branch_id = b.id) AS approvals,
      (SELECT coalesce(json_agg(s ORDER BY s.check_name COLLATE "C"), '[]')
        FROM status_checks s WHERE s.branch_id = b.id) AS status_checks
    FROM branches b JOIN projects p ON p.id = b.project_id
    WHERE b.id = ${branchId} AND b.project_id = ${projectId}`;
  return rows[0];
}

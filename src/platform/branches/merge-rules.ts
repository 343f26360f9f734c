import type { Approval, Blocker, StatusCheck } from "./schema.ts";

const BRANCH_REQUIRED_APPROVALS_DEFAULT = 1;

interface Protection {
  readonly requiredApprovals: number;
  /** Names of the checks that must succeed; null means all checks of the branch. */
  readonly requiredChecks: readonly string[] | null;
}

/**
 * Parses a project's `config.branch_protection`. Invalid values count as absent, so that a mistake
 * in the configuration never lowers the protection below the default.
 */
export function protectionOf(config: unknown): Protection {
  const given = (typeof config === "object" && config !== null ? config : {}) as {
    required_approvals?: unknown;
    required_checks?: unknown;
  };
  const { required_approvals: approvals, required_checks: checks } = given;
  const isCount = Number.isSafeInteger(approvals) && (approvals as number) >= 0;
  const isNames = Array.isArray(checks) && checks.every((name) => typeof name === "string");
  return {
    requiredApprovals: isCount ? (approvals as number) : BRANCH_REQUIRED_APPROVALS_DEFAULT,
    requiredChecks: isNames ? [...new Set(checks as string[])] : null,
  };
}

function approvalBlockers(required: number, approvals: readonly Approval[]): Blocker[] {
  const active = approvals.filter((approval) => approval.dismissed_at === undefined);
  // Several approvals by one user count once.
  const approved = new Set(active.map((approval) => approval.approved_by)).size;
  if (approved >= required) return [];
  const message = `${required} approval(s) required, ${approved} given.`;
  return [
    {
      type: "approvalRequired",
      message,
      details: { required_approvals: required, approvals: approved },
    },
  ];
}

function checkBlocker(name: string, check: StatusCheck | undefined): Blocker[] {
  const details = { check_name: name, ...(check ? { status_check_id: check.id } : {}) };
  switch (check?.status) {
    case "success":
      return [];
    case "pending":
      return [{ type: "statusCheckPending", message: `Check ${name} has not finished.`, details }];
    case "failure":
      return [{ type: "statusCheckFailed", message: `Check ${name} has failed.`, details }];
    case undefined:
      return [{ type: "statusCheckMissing", message: `Check ${name} has not run.`, details }];
  }
}

/** Everything that prevents a branch from being merged. */
export function blockersOf(
  protection: Protection,
  approvals: readonly Approval[],
  checks: readonly StatusCheck[],
): Blocker[] {
  const byName = new Map(checks.map((check) => [check.check_name, check]));
  const names = protection.requiredChecks ?? [...byName.keys()];
  return [
    ...approvalBlockers(protection.requiredApprovals, approvals),
    ...names.flatMap((name) => checkBlocker(name, byName.get(name))),
  ];
}

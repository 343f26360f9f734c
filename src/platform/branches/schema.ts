import { type Static, Type } from "@sinclair/typebox";
import {
  anyObject,
  dateTime,
  described,
  flag,
  listOf,
  oneOf,
  project_reference,
  text,
  uuid,
} from "../../domain/schemas.ts";

export const EligibilityParams = Type.Object({
  project_reference,
  branchId: uuid("The branch's id.", "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55"),
});

const Approval = described("Approval", "An approval of a branch.", {
  id: uuid("The approval's id."),
  branch_id: uuid("The approved branch."),
  approved_by: uuid("The user who approved."),
  comment: Type.Optional(text("The approver's comment.")),
  dismissed_by: Type.Optional(uuid("The user who dismissed the approval.")),
  dismissed_reason: Type.Optional(text("Why the approval was dismissed.")),
  approved_at: dateTime("When the branch was approved."),
  dismissed_at: Type.Optional(
    dateTime("When the approval was dismissed. A dismissed approval does not count."),
  ),
});
export type Approval = Static<typeof Approval>;

const CHECK_STATUSES = ["pending", "success", "failure"] as const;

const StatusCheck = described("StatusCheck", "The result of an external check of a branch.", {
  id: uuid("The check's id."),
  branch_id: uuid("The checked branch."),
  check_name: text("The check's name, unique within the branch."),
  status: oneOf(CHECK_STATUSES, "The current status of the check."),
  description: Type.Optional(text("The check's message.")),
  external_url: Type.Optional(text("A page with details.")),
  created_at: dateTime("When the check was created."),
  updated_at: dateTime("When the check last changed."),
});
export type StatusCheck = Static<typeof StatusCheck>;

const BLOCKER_TYPES = [
  "approvalRequired",
  "statusCheckPending",
  "statusCheckFailed",
  "statusCheckMissing",
] as const;

const Blocker = described("Blocker", "A reason why the branch cannot be merged.", {
  type: oneOf(BLOCKER_TYPES, "The kind of blocker."),
  message: text("The blocker in one sentence."),
  details: anyObject("The numbers and names in the message."),
});
export type Blocker = Static<typeof Blocker>;

export const Eligibility = Type.Object(
  {
    can_merge: flag("True when there are no blockers."),
    approvals: listOf(Approval, "All approvals in order of time, including dismissed ones."),
    status_checks: listOf(StatusCheck, "All checks in order of name."),
    blockers: listOf(Blocker, "Everything that prevents the merge."),
  },
  { title: "Eligibility", description: "Whether a branch can be merged, and why not." },
);
export type Eligibility = Static<typeof Eligibility>;

import { type Static, Type } from "@sinclair/typebox";
import { dateTime, oneOf, project_reference, text, uuid } from "../../shared/schemas.ts";

export const EligibilityParams = Type.Object({
  project_reference,
  branchId: Type.String({
    format: "uuid",
    description: "The branch's id.",
    examples: ["0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55"],
  }),
});

const Approval = Type.Object(
  {
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
  },
  { title: "Approval", description: "An approval of a branch." },
);
export type Approval = Static<typeof Approval>;

const CHECK_STATUSES = ["pending", "success", "failure"] as const;

const StatusCheck = Type.Object(
  {
    id: uuid("The check's id."),
    branch_id: uuid("The checked branch."),
    check_name: text("The check's name, unique within the branch."),
    status: oneOf(CHECK_STATUSES, "The current status of the check."),
    description: Type.Optional(text("The check's message.")),
    external_url: Type.Optional(text("A page with details.")),
    created_at: dateTime("When the check was created."),
    updated_at: dateTime("When the check last changed."),
  },
  { title: "StatusCheck", description: "The result of an external check of a branch." },
);
export type StatusCheck = Static<typeof StatusCheck>;

const BLOCKER_TYPES = [
  "approvalRequired",
  "statusCheckPending",
  "statusCheckFailed",
  "statusCheckMissing",
] as const;

const Blocker = Type.Object(
  {
    type: oneOf(BLOCKER_TYPES, "The kind of blocker."),
    message: text("The blocker in one sentence."),
    details: Type.Object(
      {},
      { additionalProperties: true, description: "The numbers and names in the message." },
    ),
  },
  { title: "Blocker", description: "A reason why the branch cannot be merged." },
);
export type Blocker = Static<typeof Blocker>;

export const Eligibility = Type.Object(
  {
    can_merge: Type.Boolean({ description: "True when there are no blockers." }),
    approvals: Type.Array(Approval, {
      description: "All approvals in order of time, including dismissed ones.",
    }),
    status_checks: Type.Array(StatusCheck, { description: "All checks in order of name." }),
    blockers: Type.Array(Blocker, { description: "Everything that prevents the merge." }),
  },
  { title: "Eligibility", description: "Whether a branch can be merged, and why not." },
);
export type Eligibility = Static<typeof Eligibility>;

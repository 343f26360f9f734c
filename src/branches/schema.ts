import { type Static, Type } from "@sinclair/typebox";

const uuid = (description: string) => Type.String({ format: "uuid", description });
const text = (description: string) => Type.String({ description });
const moment = (description: string) => Type.String({ format: "date-time", description });

export const EligibilityParams = Type.Object({
  project_reference: text("The project's id or slug."),
  branchId: uuid("The branch's id."),
});

const Approval = Type.Object(
  {
    id: uuid("The approval's id."),
    branch_id: uuid("The branch that is approved."),
    approved_by: uuid("The user who approves."),
    approved_at: moment("When."),
    comment: Type.Optional(text("What the approver remarked.")),
    dismissed_at: Type.Optional(moment("When it was dismissed; a dismissed one does not count.")),
    dismissed_by: Type.Optional(uuid("Who dismissed it.")),
    dismissed_reason: Type.Optional(text("Why it was dismissed.")),
  },
  { description: "Somebody's approval of a branch." },
);
export type Approval = Static<typeof Approval>;

export const CHECK_STATUSES = ["pending", "success", "failure"] as const;

const StatusCheck = Type.Object(
  {
    id: uuid("The check's id."),
    branch_id: uuid("The branch that is checked."),
    check_name: text("The check's name, unique on its branch."),
    status: Type.Union(
      CHECK_STATUSES.map((status) => Type.Literal(status)),
      { description: "Its outcome so far." },
    ),
    description: Type.Optional(text("What it says.")),
    external_url: Type.Optional(text("Where to read more.")),
    created_at: moment("When it was made."),
    updated_at: moment("When it last changed."),
  },
  { description: "What an outside check says of a branch." },
);
export type StatusCheck = Static<typeof StatusCheck>;

export const BLOCKER_TYPES = [
  "approvalRequired",
  "statusCheckPending",
  "statusCheckFailed",
  "statusCheckMissing",
] as const;
export type BlockerType = (typeof BLOCKER_TYPES)[number];

const Blocker = Type.Object(
  {
    type: Type.Union(
      BLOCKER_TYPES.map((type) => Type.Literal(type)),
      { description: "What is in the way." },
    ),
    message: text("The same in a sentence."),
    details: Type.Object(
      {},
      { additionalProperties: true, description: "Numbers and names that belong to it." },
    ),
  },
  { description: "A reason why the branch cannot be merged." },
);
export type Blocker = Static<typeof Blocker>;

export const Eligibility = Type.Object(
  {
    can_merge: Type.Boolean({ description: "True when nothing is in the way." }),
    approvals: Type.Array(Approval, { description: "All approvals by time, dismissed ones too." }),
    status_checks: Type.Array(StatusCheck, { description: "All checks by name." }),
    blockers: Type.Array(Blocker, { description: "All that is in the way." }),
  },
  { description: "Whether a branch can be merged, and why not." },
);
export type Eligibility = Static<typeof Eligibility>;

import { type Static, Type } from "@sinclair/typebox";
import { ROLES } from "../../auth/roles.ts";
import { REFERENCE_MAX_CHARS } from "../../shared/limits.ts";
import { PageInfo } from "../../shared/page-info.ts";
import { dateTime, oneOf, ProjectParams, storable, text, uuid } from "../../shared/schemas.ts";
import { INVITATIONS_LISTED_MAX } from "./invitations.ts";

export const MemberParams = Type.Object({
  ...ProjectParams.properties,
  user_id: Type.String({
    pattern: storable.pattern,
    maxLength: REFERENCE_MAX_CHARS,
    errorMessage: `must be the id or the email address of a user, of at most ${REFERENCE_MAX_CHARS} characters`,
    description: "The id of the user, or their email address, percent-encoded where necessary.",
    examples: ["grace@example.com"],
  }),
});

export const MemberChange = Type.Object(
  {
    role: oneOf(
      ROLES,
      "`owner`s change everything, `editor`s the contents, and a `member` reads the project.",
      `must be one of ${ROLES.join(", ")}`,
    ),
  },
  { title: "MemberChange", description: "The role of a member." },
);
export type MemberChange = Static<typeof MemberChange>;

export const ProjectMember = Type.Object(
  {
    id: uuid("The user's id."),
    name: text("The user's name; empty if it is not known."),
    email: Type.Optional(text("The user's email address, if known.")),
    role: text(
      "`owner`, `editor` or `member`. Members that were imported may have others, which only read.",
    ),
    since: dateTime("When the user became a member."),
  },
  { title: "ProjectMember", description: "A user's membership of a project." },
);
export type ProjectMember = Static<typeof ProjectMember>;

export const MemberState = Type.Object(
  {
    ...Type.Partial(Type.Omit(ProjectMember, ["role", "since"])).properties,
    user: Type.Optional(text("Who is invited, as the request names them; absent for a member.")),
    role: ProjectMember.properties.role,
    status: oneOf(
      ["member", "invited"],
      "`invited` until the user accepts. It is the same for every id and address, whether it is that of a " +
        "user or not.",
    ),
    since: dateTime("When the user became a member or was invited."),
  },
  { title: "MemberState", description: "A member of a project, or somebody who is invited." },
);
export type MemberState = Static<typeof MemberState>;

const Invited = Type.Object(
  {
    user: text("The id or the address that the inviter named."),
    role: text("The role that is offered."),
    since: dateTime("When they were invited."),
  },
  { title: "Invited", description: "Somebody who is invited to a project." },
);

const Invitation = Type.Object(
  {
    project: Type.Object(
      {
        id: uuid("Its id."),
        slug: text("Its slug."),
        name: text("Its name."),
      },
      { description: "The project." },
    ),
    inviter: text("The address or the name of the owner who invites."),
    ...Invited.properties,
  },
  { title: "Invitation", description: "An invitation to a project." },
);

export const InvitationList = Type.Object(
  {
    data: Type.Array(Invitation, {
      description: `The caller's invitations, the newest first, at most ${INVITATIONS_LISTED_MAX}, which those who invite share.`,
    }),
  },
  { title: "InvitationList" },
);
export type InvitationList = Static<typeof InvitationList>;

export const MemberPage = Type.Object(
  {
    data: Type.Array(ProjectMember, {
      description: "The members of the project, owners first, by email address.",
    }),
    invited: Type.Array(Invited, {
      description: "Who is invited and has not accepted, on every page.",
    }),
    page_info: PageInfo,
  },
  { title: "MemberPage" },
);
export type MemberPage = Static<typeof MemberPage>;

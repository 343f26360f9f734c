import { type Static, Type } from "@sinclair/typebox";
import { ROLES } from "../../auth/roles.ts";
import { REFERENCE_MAX_CHARS } from "../../domain/limits.ts";
import { PageInfo } from "../../domain/page-info.ts";
import {
  dateTime,
  described,
  listOf,
  oneOf,
  ProjectParams,
  storable,
  text,
  titled,
  uuid,
} from "../../domain/schemas.ts";
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

export const MemberChange = described("MemberChange", "The role of a member.", {
  role: oneOf(
    ROLES,
    "`owner`s change everything, `editor`s the contents, and a `member` reads the project.",
    `must be one of ${ROLES.join(", ")}`,
  ),
});
export type MemberChange = Static<typeof MemberChange>;

export const ProjectMember = described("ProjectMember", "A user's membership of a project.", {
  id: uuid("The user's id."),
  name: text("The user's name; empty if it is not known."),
  email: Type.Optional(text("The user's email address, if known.")),
  role: text(
    "`owner`, `editor` or `member`. Members that were imported may have others, which only read.",
  ),
  since: dateTime("When the user became a member."),
});
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

const Invited = described("Invited", "Somebody who is invited to a project.", {
  user: text("The id or the address that the inviter named."),
  role: text("The role that is offered."),
  since: dateTime("When they were invited."),
});

const Invitation = described("Invitation", "An invitation to a project.", {
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
});

export const InvitationList = titled("InvitationList", {
  data: listOf(
    Invitation,
    `The caller's invitations, the newest first, at most ${INVITATIONS_LISTED_MAX}, which those who invite share.`,
  ),
});
export type InvitationList = Static<typeof InvitationList>;

export const MemberPage = titled("MemberPage", {
  data: listOf(ProjectMember, "The members of the project, owners first, by email address."),
  invited: listOf(Invited, "Who is invited and has not accepted, on every page."),
  page_info: PageInfo,
});
export type MemberPage = Static<typeof MemberPage>;

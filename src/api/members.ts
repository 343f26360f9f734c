import type { Sql } from "../db/client.ts";
import { onlyPage } from "../domain/page-info.ts";
import { ProjectParams } from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery } from "../http/pages.ts";
import { json } from "../http/respond.ts";
import {
  InvitationList,
  MemberChange,
  MemberPage,
  MemberParams,
  MemberState,
  type ProjectMember,
} from "../platform/members/schema.ts";
import {
  endMembership,
  listInvitations,
  listMembers,
  setMember,
} from "../platform/members/service.ts";

const EXAMPLE: ProjectMember = {
  id: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
  email: "grace@example.com",
  name: "Grace",
  role: "editor",
  since: "2026-01-05T09:30:00.000Z",
};

const PAGE_EXAMPLE: MemberPage = {
  data: [EXAMPLE],
  invited: [{ user: "alan@example.com", role: "member", since: "2026-01-06T09:30:00.000Z" }],
  page_info: onlyPage("/projects/demo/members"),
};

const INVITATIONS_EXAMPLE: InvitationList = {
  data: [
    {
      project: { id: "7c1d2e3f-4a5b-4c6d-8e9f-0a1b2c3d4e5f", slug: "demo", name: "Demo" },
      user: "grace@example.com",
      role: "editor",
      inviter: "ada@example.com",
      since: "2026-01-05T09:30:00.000Z",
    },
  ],
};

const MEMBERS_PATH = "/projects/{project_reference}/members";
const MEMBER_PATH = `${MEMBERS_PATH}/{user_id}`;
const OWNERS = "The caller needs the role `owner`. The last owner of a project stays its owner.";
const CHANGE_PROBLEMS = [
  "validation-failed",
  "permission-denied",
  "project-not-found",
  "user-not-found",
  "last-owner",
] as const;

/** GET /invitations. */
function invitationsOperation(sql: Sql): Operation {
  return operation({
    id: "listInvitations",
    method: "GET",
    path: "/invitations",
    tag: "Projects",
    summary: "List the caller's invitations to projects",
    description:
      "To accept one, send `PUT /projects/{project.id}/members/{user}` with its `role`; to decline it, send " +
      "`DELETE`. A user who is invited to a project by id and by address has two, of which the role of the request " +
      "selects one; both end when one is accepted or declined. An invitation ends after 30 days, when the membership " +
      "of the invited user begins, changes or ends, and when the user who invites no longer owns the project. An API " +
      "key that is bound to a project has no invitations.",
    extension: true,
    permission: "projects.read",
    response: InvitationList,
    responseExample: INVITATIONS_EXAMPLE,
    problems: [],
    handle: ({ principal }) => listInvitations(sql, principal),
  });
}

/** Operations on the members of projects. */
export function memberOperations(services: ListServices): Operation[] {
  const { sql } = services;
  return [
    invitationsOperation(sql),
    operation({
      id: "listMembers",
      method: "GET",
      path: MEMBERS_PATH,
      tag: "Projects",
      summary: "List the members of a project",
      extension: true,
      permission: "projects.read",
      params: ProjectParams,
      query: PageQuery,
      response: MemberPage,
      responseExample: PAGE_EXAMPLE,
      problems: ["project-not-found", "invalid-cursor"],
      handle: (call) => listMembers(services, call),
    }),
    operation({
      id: "putMember",
      method: "PUT",
      path: MEMBER_PATH,
      tag: "Projects",
      summary: "Invite a user to a project, accept an invitation, or change the role of a member",
      description:
        "An owner who names a member changes their role, within a second. Any other id or address is invited, and the " +
        "answer does not tell whether it is that of a user. The invited user accepts by the same request: they name " +
        "themselves by id or address, and a role that is offered; `GET /invitations` lists the invitations that they can accept. The " +
        `same request again changes nothing. ${OWNERS}`,
      extension: true,
      permission: "projects.write",
      params: MemberParams,
      body: MemberChange,
      bodyExample: { role: "editor" },
      mayCreate: true,
      changesAccess: true,
      response: MemberState,
      responseExample: { ...EXAMPLE, status: "member" },
      problems: [...CHANGE_PROBLEMS.filter((slug) => slug !== "user-not-found"), "quota-exceeded"],
      async handle(call) {
        const { member, added } = await setMember(sql, call, call.body);
        return json(member, added ? 201 : 200);
      },
    }),
    operation({
      id: "deleteMember",
      method: "DELETE",
      path: MEMBER_PATH,
      tag: "Projects",
      summary: "End the membership of a user, or an invitation",
      description:
        "The API keys of a member lose access to the project within a second, and the invitations of the member and by " +
        "the member end. An owner withdraws an invitation by naming whom it names, and the invited user declines it " +
        `by naming themselves. ${OWNERS}`,
      extension: true,
      permission: "projects.write",
      params: MemberParams,
      status: 204,
      changesAccess: true,
      problems: CHANGE_PROBLEMS,
      handle: (call) => endMembership(sql, call),
    }),
  ];
}

import type { Sql } from "../../db/client.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { PageQuery, pageRequestOf } from "../../http/pages.ts";
import { json } from "../../http/respond.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { MemberChange, MemberPage, MemberParams, ProjectMember } from "./schema.ts";
import { endMembership, listMembers, setMember } from "./service.ts";

const EXAMPLE: ProjectMember = {
  id: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
  email: "grace@example.com",
  name: "Grace",
  role: "editor",
  since: "2026-01-05T09:30:00.000Z",
};

const PAGE_EXAMPLE: MemberPage = {
  data: [EXAMPLE],
  page_info: { self: "/projects/demo/members", first: null, next: null, prev: null },
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

/** Operations on the members of projects. */
export function memberOperations(services: {
  readonly sql: Sql;
  readonly cursors: CursorSigner;
}): Operation[] {
  const { sql } = services;
  return [
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
      handle: (call) =>
        listMembers(services, call.principal, call.params.project_reference, pageRequestOf(call)),
    }),
    operation({
      id: "putMember",
      method: "PUT",
      path: MEMBER_PATH,
      tag: "Projects",
      summary: "Make a user a member of a project, or change their role",
      description: `The change counts within a second. ${OWNERS}`,
      extension: true,
      permission: "projects.write",
      params: MemberParams,
      body: MemberChange,
      bodyExample: { role: "editor" },
      mayCreate: true,
      changesAccess: true,
      response: ProjectMember,
      responseExample: EXAMPLE,
      problems: CHANGE_PROBLEMS,
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
      summary: "End the membership of a user",
      description: `Their API keys lose access to the project within a second. ${OWNERS}`,
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

import { type Static, Type } from "@sinclair/typebox";
import { AUDIT_ACTIONS, type AuditAction } from "../auth/audit/actions.ts";
import { type AuditEntry, type EntryPosition, readAuditEntries } from "../auth/audit/entries.ts";
import { findOwnedProject } from "../auth/project-access.ts";
import { parseDateTime } from "../domain/formats.ts";
import { onlyPage, pageOf } from "../domain/page-info.ts";
import { withTimes } from "../domain/rows.ts";
import {
  anyObject,
  dateTime,
  described,
  nullableText,
  oneOf,
  ProjectParams,
} from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery, type ProjectListCall, readListing } from "../http/pages.ts";

const ACTIONS = Object.keys(AUDIT_ACTIONS) as AuditAction[];

const time = (description: string) => Type.Optional(dateTime(description, "2026-01-05T09:30:00Z"));

const AuditQuery = Type.Object({
  from: time("Only entries from this time on."),
  to: time("Only entries before this time."),
  ...PageQuery.properties,
});
type AuditQuery = Static<typeof AuditQuery>;

const AuditEntryBody = described("AuditEntry", "An entry of the audit log.", {
  at: dateTime("When it happened."),
  action: oneOf(ACTIONS, "The action; docs/credentials.md lists the details of each action."),
  via: nullableText(
    "`http`, or `command` for the operator's command line; null for a change in the database.",
  ),
  user: nullableText("The email address of the user, or else their id; null for the operator."),
  key_prefix: nullableText("The public part of the API key that was used; null without one."),
  request_id: nullableText("The id of the request; null without one."),
  details: anyObject(
    "The details of the change, by action: of `member.changed`, for example, `member`, `role` and " +
      "`earlier_role`.",
  ),
});

const AuditPage = pageOf("AuditPage", AuditEntryBody, "The entries, newest first.");
type AuditPage = Static<typeof AuditPage>;

const EXAMPLE: AuditPage = {
  data: [
    {
      at: "2026-01-05T09:30:00.000Z",
      action: "member.changed",
      via: "http",
      user: "ada@example.com",
      key_prefix: null,
      request_id: "0b9f2f6e-8f0e-4f55-9e40-7f1f6a0c2f11",
      details: {
        member: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
        role: "editor",
        earlier_role: "member",
      },
    },
  ],
  page_info: onlyPage("/projects/demo/audit"),
};

const entryOf = ({ id: _, project: _project, ...entry }: AuditEntry) => withTimes(entry);

/**
 * One page of a project's audit log, newest first. Throws `project-not-found`, `permission-denied` for all but
 * owners, and `invalid-cursor`.
 */
async function listEntries(
  { sql, cursors }: ListServices,
  call: ProjectListCall & { readonly query: AuditQuery },
): Promise<AuditPage> {
  const { principal, params, query } = call;
  const { from, to } = query;
  const { id: projectId } = await findOwnedProject(sql, principal, params.project_reference);
  const selection = {
    projectId,
    userId: null,
    ...(from !== undefined && { since: parseDateTime(from) }),
    ...(to !== undefined && { until: parseDateTime(to) }),
  };
  return await readListing(cursors, call, {
    binding: `audit:${projectId}:${from ?? ""}:${to ?? ""}`,
    parameters: { from, to },
    keyOf: ({ id }: AuditEntry): EntryPosition => [id],
    read: (range) => readAuditEntries(sql, { ...selection, ...range }),
    itemOf: entryOf,
  });
}

/** GET /projects/{project_reference}/audit. */
export function auditOperation(services: ListServices): Operation {
  return operation({
    id: "listAuditEntries",
    method: "GET",
    path: "/projects/{project_reference}/audit",
    tag: "Projects",
    summary: "List the audit log of a project",
    description:
      "The author of each change of the project, its members, invitations, environments, releases, webhooks, branches, " +
      "keys and files, imports, and refusals of keys that are bound to it. Commands and imports leave the same entries " +
      "as requests. An entry is kept for 400 days. The caller needs the role `owner`.",
    extension: true,
    permission: "projects.read",
    params: ProjectParams,
    query: AuditQuery,
    response: AuditPage,
    responseExample: EXAMPLE,
    problems: ["validation-failed", "permission-denied", "project-not-found", "invalid-cursor"],
    handle: (call) => listEntries(services, call),
  });
}

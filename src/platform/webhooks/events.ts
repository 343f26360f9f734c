import type { Static } from "@sinclair/typebox";
import type { Principal } from "../../auth/principal.ts";
import { findProject, findWritableProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { onlyPage, pageOf } from "../../domain/page-info.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { withTimes } from "../../domain/rows.ts";
import { ProjectParams } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import {
  type ListServices,
  PageQuery,
  type ProjectListCall,
  readListing,
} from "../../http/pages.ts";
import { jsonText } from "../../http/respond.ts";
import { type EventPosition, type ListedEventRow, readEvents, readFullEvent } from "./queries.ts";
import { EventParams, ListedWebhookEvent, WebhookEvent } from "./schema.ts";

const WebhookEventPage = pageOf(
  "WebhookEventPage",
  ListedWebhookEvent,
  "The project's events, newest first.",
);
type WebhookEventPage = Static<typeof WebhookEventPage>;

const EXAMPLE: WebhookEventPage = {
  data: [
    {
      id: "b7a1c9d2-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
      webhook_id: "github-deploys",
      idempotency_key: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      conversation_id: "f0e1d2c3-b4a5-4687-9879-6a5b4c3d2e1f",
      message_id: "0f1e2d3c-4b5a-4968-8776-859473625140",
      status: "accepted",
      received_at: "2026-01-06T12:00:00.000Z",
    },
  ],
  page_info: onlyPage("/projects/demo/webhook-events"),
};

const EVENT_EXAMPLE: WebhookEvent = {
  ...(EXAMPLE.data[0] as ListedWebhookEvent),
  run_id: "0198c0de-0000-4000-8000-000000000004",
  is_json: true,
  payload: { action: "opened", number: 7 },
};

const eventOf = ({ micros: _, ...row }: ListedEventRow) => withTimes(row);

/** One page of a project's events, newest first. Throws `project-not-found` or `invalid-cursor`. */
async function listEvents(
  { sql, cursors }: ListServices,
  call: ProjectListCall,
): Promise<WebhookEventPage> {
  const projectId = await findProject(sql, call.principal, call.params.project_reference);
  return await readListing(cursors, call, {
    binding: `webhook-events:${projectId}`,
    keyOf: ({ micros, id }: ListedEventRow): EventPosition => [micros, id],
    read: (range) => readEvents(sql, projectId, range),
    itemOf: eventOf,
  });
}

/**
 * A stored delivery as JSON text. The payload is inserted as it was sent, so that numbers keep all digits.
 * Throws `project-not-found`, `permission-denied` for members who only read, and `webhook-event-not-found`.
 */
async function getEvent(
  sql: Sql,
  principal: Principal,
  { project_reference: reference, event_id: id }: Static<typeof EventParams>,
): Promise<string> {
  const { id: projectId } = await findWritableProject(sql, principal, reference);
  const row = await readFullEvent(sql, projectId, id);
  if (row === undefined) throw new Problem("webhook-event-not-found");
  const { payload, ...event } = row;
  return `${JSON.stringify(withTimes(event)).slice(0, -1)},"payload":${payload}}`;
}

/** GET /projects/{project_reference}/webhook-events/{event_id}. */
export function webhookEventOperation(sql: Sql): Operation {
  return operation({
    id: "getWebhookEvent",
    method: "GET",
    path: "/projects/{project_reference}/webhook-events/{event_id}",
    tag: "Webhooks",
    summary: "Read a stored delivery",
    description:
      "A delivery with its payload. Repetitions of a delivery are answered with the stored one and leave no " +
      "trace. The caller needs the role `owner` or `editor`.",
    extension: true,
    permission: "projects.read",
    params: EventParams,
    response: WebhookEvent,
    responseExample: EVENT_EXAMPLE,
    problems: [
      "validation-failed",
      "permission-denied",
      "project-not-found",
      "webhook-event-not-found",
    ],
    handle: async ({ params, principal }) => jsonText(await getEvent(sql, principal, params)),
  });
}

/** GET /projects/{project_reference}/webhook-events. */
export function webhookEventsOperation(services: ListServices): Operation {
  return operation({
    id: "listWebhookEvents",
    method: "GET",
    path: "/projects/{project_reference}/webhook-events",
    tag: "Webhooks",
    summary: "List stored deliveries",
    description:
      "The deliveries to all webhooks of the project, newest first, without their payloads.",
    extension: true,
    permission: "projects.read",
    params: ProjectParams,
    query: PageQuery,
    response: WebhookEventPage,
    responseExample: EXAMPLE,
    problems: ["project-not-found", "invalid-cursor"],
    handle: (call) => listEvents(services, call),
  });
}

import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { findOwnedProject, holdOwnedProject } from "../../auth/project-access.ts";
import { type ChangeCall, changing } from "../../content/projects/change.ts";
import type { Sql } from "../../db/client.ts";
import { taken } from "../../db/errors.ts";
import { charge } from "../../db/quotas.ts";
import { onlyPage, pageOf } from "../../domain/page-info.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { type RowOf, withTimes } from "../../domain/rows.ts";
import { ProjectParams, text } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { type ListServices, PageQuery, readListing } from "../../http/pages.ts";
import {
  deleteDefinition,
  hasConversation,
  insertDefinition,
  listDefinitions,
  type WebhookPosition,
} from "./queries.ts";
import { CreatedWebhook, NewWebhook, Webhook } from "./schema.ts";

const SECRET_BYTES = 32;

const WebhookPage = pageOf("WebhookPage", Webhook, "The project's webhooks in order of id.");

const EXAMPLE: Webhook = {
  id: "ci-builds",
  enabled: true,
  conversation_id: null,
  created_at: "2026-01-05T09:30:00.000Z",
};

const PAGE_EXAMPLE: Static<typeof WebhookPage> = {
  data: [EXAMPLE],
  page_info: onlyPage("/projects/demo/webhooks"),
};

/**
 * Creates a webhook. Throws `project-not-found`, `permission-denied` for all but owners, `webhook-id-taken`,
 * `conversation-not-found` and `quota-exceeded`.
 */
async function createWebhook(
  sql: Sql,
  call: ChangeCall,
  { id: name, secret: given, enabled = true, conversation_id }: NewWebhook,
): Promise<CreatedWebhook> {
  const conversationId = conversation_id ?? null;
  const secret = given ?? randomBytes(SECRET_BYTES).toString("base64url");
  const created = changing(sql, call, holdOwnedProject, async (tx, projectId) => {
    if (conversationId !== null && !(await hasConversation(tx, projectId, conversationId))) {
      throw new Problem("conversation-not-found");
    }
    const definition = { name, secret, enabled, conversationId };
    const { stored_bytes: bytes, ...webhook } = await insertDefinition(tx, projectId, definition);
    await charge(tx, projectId, { bytes });
    return webhook;
  });
  const row = await created.catch(taken("webhook_definitions_name", "webhook-id-taken"));
  const { created_at, ...webhook } = withTimes(row);
  return { ...webhook, ...(given === undefined && { secret }), created_at };
}

/**
 * Deletes a webhook with its events. Their conversations stay. Throws `project-not-found`, `permission-denied` for all
 * but owners, and `webhook-not-found`.
 */
async function deleteWebhook(sql: Sql, call: ChangeCall, name: string): Promise<void> {
  await changing(sql, call, holdOwnedProject, async (tx, projectId) => {
    const bytes = await deleteDefinition(tx, projectId, name);
    if (bytes === undefined) throw new Problem("webhook-not-found");
    await charge(tx, projectId, { bytes: -bytes });
  });
}

const OWNERS = "The caller needs the role `owner`.";
const COMMON = { tag: "Webhooks", extension: true } as const;
const WEBHOOKS_PATH = "/projects/{project_reference}/webhooks";

function listOperation({ sql, cursors }: ListServices): Operation {
  return operation({
    ...COMMON,
    id: "listWebhooks",
    method: "GET",
    path: WEBHOOKS_PATH,
    summary: "List the webhooks of a project",
    description: `Secrets are not shown. ${OWNERS}`,
    permission: "projects.read",
    params: ProjectParams,
    query: PageQuery,
    response: WebhookPage,
    responseExample: PAGE_EXAMPLE,
    problems: ["permission-denied", "project-not-found", "invalid-cursor"],
    async handle(call) {
      const { id } = await findOwnedProject(sql, call.principal, call.params.project_reference);
      return await readListing(cursors, call, {
        binding: `webhooks:${id}`,
        keyOf: ({ id: name }: RowOf<Webhook>): WebhookPosition => [name],
        read: (range) => listDefinitions(sql, id, range),
        itemOf: withTimes,
      });
    },
  });
}

/** Operations on the webhooks of a project. */
export function definitionOperations(services: ListServices): Operation[] {
  const { sql } = services;
  return [
    listOperation(services),
    operation({
      ...COMMON,
      id: "createWebhook",
      method: "POST",
      path: WEBHOOKS_PATH,
      summary: "Create a webhook",
      description: `The webhook takes deliveries at once. Only a hash of the secret is stored. ${OWNERS}`,
      permission: "projects.write",
      params: ProjectParams,
      body: NewWebhook,
      bodyExample: { id: EXAMPLE.id },
      status: 201,
      changesAccess: true,
      response: CreatedWebhook,
      responseExample: { ...EXAMPLE, secret: "q0Zk3n1vJ5cX8rT2wB7yL4mD9sF6hG0aPeUoIiQjVxE" },
      problems: [
        "permission-denied",
        "project-not-found",
        "conversation-not-found",
        "webhook-id-taken",
        "quota-exceeded",
      ],
      handle: (call) => createWebhook(sql, call, call.body),
    }),
    operation({
      ...COMMON,
      id: "deleteWebhook",
      method: "DELETE",
      path: `${WEBHOOKS_PATH}/{webhook_id}`,
      summary: "Delete a webhook",
      description:
        "Deletes the webhook with its stored deliveries and their idempotency keys. The conversations and messages " +
        `that the deliveries have added stay. ${OWNERS}`,
      permission: "projects.write",
      params: Type.Object({
        ...ProjectParams.properties,
        webhook_id: text("The id of the webhook.", EXAMPLE.id),
      }),
      status: 204,
      changesAccess: true,
      problems: ["permission-denied", "project-not-found", "webhook-not-found"],
      handle: (call) => deleteWebhook(sql, call, call.params.webhook_id),
    }),
  ];
}

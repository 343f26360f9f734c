import { type Static, Type } from "@sinclair/typebox";
import { IDEMPOTENCY_KEY_MAX_CHARS, WEBHOOK_ID_MAX_CHARS } from "../../domain/limits.ts";
import { NAME_FAULT, NAME_PATTERN } from "../../domain/paths.ts";
import { ProblemBody } from "../../domain/problem/schema.ts";
import {
  count,
  dateTime,
  described,
  flag,
  nullable,
  nullableText,
  ProjectParams,
  text,
  uuid,
} from "../../domain/schemas.ts";

const SECRET_MAX_CHARS = 8_192;

export const WebhookParams = Type.Object({
  webhook_id: Type.String({
    minLength: 1,
    maxLength: WEBHOOK_ID_MAX_CHARS,
    description: "The id of an enabled webhook definition.",
    examples: ["github-deploys"],
  }),
});

export const WebhookQuery = Type.Object({
  secret: Type.Optional(
    text(
      "The webhook's secret, for senders that cannot set the header `X-Service-Webhook-Secret`.",
    ),
  ),
});

const keyHeader = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: IDEMPOTENCY_KEY_MAX_CHARS,
      description,
      examples: ["72d3162e-cc78-11e3-81ab-4c9367dc0958"],
    }),
  );

/** The idempotency key is the first present of all headers but the secret. */
export const WebhookHeaders = Type.Object({
  "X-Service-Webhook-Secret": Type.Optional(text("The webhook's secret.")),
  "Idempotency-Key": keyHeader("The idempotency key of the delivery: visible ASCII characters."),
  "X-GitHub-Delivery": keyHeader("GitHub's delivery id."),
  "X-Gitlab-Event-UUID": keyHeader("GitLab's delivery id, which `Webhook-Id` overrides."),
  "X-Request-UUID": keyHeader("Bitbucket's delivery id."),
  "Webhook-Id": keyHeader(
    "The delivery id of senders that follow Standard Webhooks, as GitLab does.",
  ),
  "Svix-Id": keyHeader("Svix's delivery id."),
  "X-Gitea-Delivery": keyHeader("Gitea's and Forgejo's delivery id."),
  "X-Shopify-Webhook-Id": keyHeader("Shopify's delivery id."),
  "Linear-Delivery": keyHeader("Linear's delivery id."),
});

/** The headers that may carry the idempotency key, in order of precedence. */
const KEY_HEADERS = Object.keys(WebhookHeaders.properties).slice(1);
/** GitLab gives several events of one action the same value of this header, and another `Webhook-Id` each. */
const GITLAB_KEY_HEADER = "X-Gitlab-Event-UUID";

/** The name of the header that carries the idempotency key of a delivery; undefined without such a header. */
export function keyHeaderOf(headers: Headers): string | undefined {
  const ofEvents = headers.has("webhook-id") ? GITLAB_KEY_HEADER : undefined;
  return KEY_HEADERS.find((name) => name !== ofEvents && headers.has(name));
}

export const WebhookEventResult = described("WebhookEventResult", "The result of a delivery.", {
  webhook_event_id: uuid("The id of the event that stores the delivery."),
  status: text("Always `accepted`."),
  duplicate: flag("True when the delivery was already stored."),
  webhook_definition_id: uuid(
    "The UUID of the webhook definition. Derived from its id when that is not a UUID.",
  ),
  project_id: uuid("The webhook's project."),
  conversation_id: uuid("The conversation that the delivery was added to."),
  message_id: uuid("The message that contains the payload."),
  run_id: text("The run that the delivery starts."),
  canonical_run_id: uuid("The id of the same run."),
  latest_event_id: count("The number of this event within its conversation, from 1."),
  invoked_by: text("Always `webhook`."),
  payload: Type.Unknown({
    description: "The payload as it was sent. A string when it is not JSON.",
  }),
  received_at: dateTime("When the delivery was received."),
});
export type WebhookEventResult = Static<typeof WebhookEventResult>;

/** A problem with the additional members `error` and `message`, which webhook senders display. */
export const WebhookProblemBody = Type.Object(
  {
    ...ProblemBody.properties,
    detail: text("The fault of this request."),
    error: text("The same value as `slug`."),
    message: text("The same text as `detail`."),
  },
  {
    title: "WebhookProblem",
    description:
      "An RFC 9457 problem, with the members `error` and `message` that webhook senders display.",
  },
);

export const RESULT_EXAMPLE: WebhookEventResult = {
  webhook_event_id: "0198c0de-0000-7000-8000-000000000001",
  webhook_definition_id: "1f0c9a52-7a3e-5c1d-9f43-6a2f1b7d8e90",
  project_id: "6b1f7c1e-52a4-4a39-8e1a-0d9b7c3f5a11",
  conversation_id: "0198c0de-0000-7000-8000-000000000002",
  message_id: "0198c0de-0000-7000-8000-000000000003",
  run_id: "0198c0de-0000-7000-8000-000000000004",
  canonical_run_id: "0198c0de-0000-7000-8000-000000000004",
  latest_event_id: 1,
  status: "accepted",
  duplicate: false,
  invoked_by: "webhook",
  received_at: "2026-01-02T03:04:05.678Z",
  payload: { action: "opened", number: 7 },
};

/** Any content type is accepted; these are documented. */
export const REQUEST_BODIES = {
  "application/json": { schema: Type.Unknown(), example: RESULT_EXAMPLE.payload },
  "application/x-www-form-urlencoded": {
    schema: Type.Object({
      payload: Type.Optional(text("The payload as JSON, as in GitHub's forms.")),
    }),
    example: { payload: '{"action":"opened","number":7}' },
  },
  "*/*": {
    schema: text("Anything else, which is stored as text."),
    example: "deployed",
  },
};

export const EventParams = Type.Object({
  ...ProjectParams.properties,
  event_id: uuid("The id of the event.", "b7a1c9d2-4e5f-4a6b-8c7d-9e0f1a2b3c4d"),
});

const received_at = dateTime("When the delivery was received.");

export const ListedWebhookEvent = Type.Object(
  {
    id: uuid("The id of the event."),
    webhook_id: text("The id of the webhook definition."),
    idempotency_key: nullableText("The key that the sender gave; null when every delivery is new."),
    conversation_id: uuid("The conversation that the delivery was added to."),
    message_id: uuid("The message that contains the payload."),
    status: text("Always `accepted`."),
    received_at,
  },
  { title: "ListedWebhookEvent", description: "A stored delivery, without its payload." },
);
export type ListedWebhookEvent = Static<typeof ListedWebhookEvent>;

export const WebhookEvent = Type.Object(
  {
    ...Type.Omit(ListedWebhookEvent, ["received_at"]).properties,
    run_id: uuid("The run that the delivery started."),
    is_json: flag("False when the payload was stored as text."),
    payload: Type.Unknown({
      description: "The payload as it was sent. A string when it is not JSON.",
    }),
    received_at,
  },
  { title: "WebhookEvent", description: "A stored delivery with its payload." },
);
export type WebhookEvent = Static<typeof WebhookEvent>;

export const Webhook = described("Webhook", "A webhook of a project, without its secret.", {
  id: text("The id, unique within the project. Senders deliver to `/webhooks/{id}`."),
  enabled: flag("False for a webhook whose deliveries are answered 404."),
  conversation_id: nullable(
    Type.String({ format: "uuid" }),
    "The conversation that deliveries are added to; null if each begins one.",
  ),
  created_at: dateTime("When the webhook was created."),
});
export type Webhook = Static<typeof Webhook>;

export const NewWebhook = described("NewWebhook", "A webhook to create.", {
  id: Type.String({
    minLength: 1,
    maxLength: WEBHOOK_ID_MAX_CHARS,
    pattern: NAME_PATTERN,
    errorMessage: `${NAME_FAULT}, with 1 to ${WEBHOOK_ID_MAX_CHARS} characters`,
    description: "The id, unique within the project. Webhooks of other projects may have the same.",
  }),
  secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SECRET_MAX_CHARS,
      description: "The secret with which senders deliver. Without it, the service makes one.",
    }),
  ),
  enabled: Type.Optional(flag("False for a webhook that takes no deliveries; true by default.")),
  conversation_id: Type.Optional(
    uuid(
      "The conversation of the project that deliveries are added to. Without it, each begins one.",
    ),
  ),
});
export type NewWebhook = Static<typeof NewWebhook>;

export const CreatedWebhook = described("CreatedWebhook", "A webhook that was created.", {
  ...Type.Omit(Webhook, ["created_at"]).properties,
  secret: Type.Optional(
    text(
      "The secret that the service has made, which no other answer shows. Absent for a given one.",
    ),
  ),
  created_at: Webhook.properties.created_at,
});
export type CreatedWebhook = Static<typeof CreatedWebhook>;

import { type Static, Type } from "@sinclair/typebox";
import { ProblemBody } from "../problem/problem.ts";
import { IDEMPOTENCY_KEY_MAX_CHARS, WEBHOOK_ID_MAX_CHARS } from "../shared/limits.ts";

export const WebhookParams = Type.Object({
  webhook_id: Type.String({
    minLength: 1,
    maxLength: WEBHOOK_ID_MAX_CHARS,
    description: "The id of an enabled webhook definition.",
  }),
});

export const WebhookQuery = Type.Object({
  secret: Type.Optional(
    Type.String({
      description:
        "The webhook's secret, for source-hosting providers that can send no header of ours.",
    }),
  ),
});

const keyHeader = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARS, description }));

/** The idempotency key is taken from the first of the later headers that is present. */
export const WebhookHeaders = Type.Object({
  "X-Service-Webhook-Secret": Type.Optional(Type.String({ description: "The webhook's secret." })),
  "Idempotency-Key": keyHeader("Identifies the delivery: visible ASCII characters."),
  "X-GitHub-Delivery": keyHeader("GitHub's own delivery id."),
  "X-Gitlab-Event-UUID": keyHeader("GitLab's own delivery id."),
  "X-Request-UUID": keyHeader("Bitbucket's own delivery id."),
});

/** The headers that may carry the idempotency key, in their order of precedence. */
export const KEY_HEADERS = Object.keys(WebhookHeaders.properties).slice(1);

const uuid = (description: string) => Type.String({ format: "uuid", description });
const text = (description: string) => Type.String({ description });
const moment = (description: string) => Type.String({ format: "date-time", description });

export const WebhookEventResult = Type.Object(
  {
    webhook_event_id: uuid("The event that keeps the delivery."),
    webhook_definition_id: uuid("The webhook that took it."),
    project_id: uuid("The webhook's project."),
    conversation_id: uuid("The conversation that it goes to."),
    message_id: uuid("The message that carries its payload."),
    run_id: text("The run that it starts."),
    canonical_run_id: uuid("The same run's id."),
    latest_event_id: Type.Integer({
      minimum: 0,
      description: "Counts the events of the conversation.",
    }),
    status: Type.String({ description: "`accepted`." }),
    duplicate: Type.Boolean({ description: "True when the delivery had been taken before." }),
    error_code: Type.Optional(text("What went wrong later, as a code.")),
    error_message: Type.Optional(text("What went wrong later.")),
    invoked_by: Type.String({ description: "`webhook`." }),
    manual_invoked_by_user_id: Type.Optional(uuid("The user who started it by hand.")),
    received_at: moment("When it came."),
    completed_at: Type.Optional(moment("When it was dealt with.")),
    payload: Type.Unknown({ description: "The payload as it was sent; text where it is no JSON." }),
  },
  { description: "What became of a delivery." },
);
export type WebhookEventResult = Static<typeof WebhookEventResult>;

/** Problems of this operation say the same once more in the words that webhook senders show. */
export const WebhookProblemBody = Type.Object(
  {
    ...ProblemBody.properties,
    detail: text("What happened this time."),
    error: Type.String({ description: "The slug." }),
    message: Type.String({ description: "The same text as `detail`." }),
  },
  {
    description: "An error, as RFC 9457 describes it, with the members that webhook senders show.",
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

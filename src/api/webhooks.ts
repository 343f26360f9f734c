import type { Authenticator } from "../auth/authenticator.ts";
import type { Clearable } from "../auth/open.ts";
import type { Sql } from "../db/client.ts";
import type { Coordinator } from "../db/coordination/coordinator.ts";
import { isUuid, timestamp } from "../domain/formats.ts";
import { IDEMPOTENCY_KEY_MAX_CHARS, PROBLEM_DETAIL_MAX_CHARS } from "../domain/limits.ts";
import { invalid, Problem } from "../domain/problem/problem.ts";
import type { CursorSigner } from "../http/cursor.ts";
import { type Operation, operation } from "../http/operation.ts";
import { mediaType } from "../http/request.ts";
import { JSON_TYPE } from "../http/respond.ts";
import type { Config } from "../ops/config/schema.ts";
import { createFailpoints } from "../ops/failpoints.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import { TtlCache } from "../ops/ttl-cache.ts";
import { requireAccess } from "../platform/webhooks/access.ts";
import { definitionOperations } from "../platform/webhooks/definitions.ts";
import { webhookEventOperation, webhookEventsOperation } from "../platform/webhooks/events.ts";
import { readPayload } from "../platform/webhooks/payload.ts";
import { type Definition, readDefinitions } from "../platform/webhooks/queries.ts";
import {
  keyHeaderOf,
  REQUEST_BODIES,
  RESULT_EXAMPLE,
  WebhookEventResult,
  WebhookHeaders,
  WebhookParams,
  WebhookProblemBody,
  WebhookQuery,
} from "../platform/webhooks/schema.ts";
import { deliver, OPERATION, type Outcome } from "../platform/webhooks/service.ts";

const VISIBLE_ASCII = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_CHARS}}$`);
/** The namespace of definitions whose ids are not UUIDs. It must never change. */
const NAMESPACE = "7c0f5ec3-9d5b-4f0c-8f0e-3a1d8b6e2c54";

interface WebhookServices {
  readonly config: Config;
  readonly baseUrl: string;
  readonly sql: Sql;
  readonly authenticator: Authenticator;
  readonly coordinator: Coordinator;
  readonly cursors: CursorSigner;
  readonly metrics: Metrics;
  clearOnAccessChange(cache: Clearable): void;
}

/** The first idempotency key in the headers, or null. Throws `validation-failed` if it is invalid. */
function idempotencyKeyOf(headers: Headers): string | null {
  const name = keyHeaderOf(headers);
  if (name === undefined) return null;
  const key = headers.get(name) as string;
  if (VISIBLE_ASCII.test(key)) return key;
  const message = `must have 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} visible ASCII characters`;
  throw invalid([{ field: name, message }]);
}

function charsetOf(request: Request): string | undefined {
  return /;\s*charset="?([\w.:-]+)/i.exec(request.headers.get("content-type") ?? "")?.[1];
}

/**
 * The UUID of a webhook definition in results: its id if that is a UUID, otherwise the UUIDv5 of
 * the id. The same id always has the same UUID.
 */
export function definitionUuid(id: string): string {
  return isUuid(id) ? id.toLowerCase() : Bun.randomUUIDv5(id, NAMESPACE);
}

/** The result as JSON. The payload is inserted as it was sent, so that numbers keep all digits. */
function resultBody(name: string, { event, isDuplicate, payload }: Outcome): string {
  const result: Omit<WebhookEventResult, "payload"> = {
    webhook_event_id: event.id,
    webhook_definition_id: definitionUuid(name),
    project_id: event.project_id,
    conversation_id: event.conversation_id,
    message_id: event.message_id,
    run_id: event.run_id,
    canonical_run_id: event.run_id,
    latest_event_id: Number(event.latest_event_id),
    status: event.status,
    duplicate: isDuplicate,
    invoked_by: event.invoked_by,
    received_at: timestamp(event.received_at),
  };
  return `${JSON.stringify(result).slice(0, -1)},"payload":${payload}}`;
}

/** POST /webhooks/{webhook_id}, which receives deliveries from outside, and the list of them. */
export function webhookOperations(services: WebhookServices): Operation[] {
  const { sql, config } = services;
  const deliveryServices = { ...services, failpoint: createFailpoints(config.failpoints) };
  const cache = new TtlCache<readonly Definition[]>({
    counts: services.metrics.cache("webhooks"),
  });
  services.clearOnAccessChange(cache);

  async function enabledDefinitions(name: string): Promise<readonly Definition[]> {
    // PostgreSQL text cannot contain NUL, so no definition has such a name.
    const found = name.includes("\0") ? [] : cache.get(name, () => readDefinitions(sql, name));
    const definitions = found instanceof Promise ? await found : found;
    if (definitions.length === 0) throw new Problem("webhook-not-found");
    return definitions;
  }

  return [
    ...definitionOperations(services),
    webhookEventsOperation(services),
    webhookEventOperation(sql),
    operation({
      id: OPERATION,
      method: "POST",
      path: "/webhooks/{webhook_id}",
      tag: "Webhooks",
      summary: "Deliver to a webhook",
      description:
        "Stores a delivery exactly once per idempotency key. A repeated delivery returns the " +
        "stored result with `duplicate` true. The caller is authenticated by the first of these " +
        "that is present: the header `X-Service-Webhook-Secret`, the query parameter `secret`, a " +
        "bearer token or API key of a project member with the permission `webhooks.deliver`. The " +
        "idempotency key is in the first of the headers below that is present, without which every " +
        "delivery is new. JSON is " +
        "stored as JSON, the JSON in a form's field `payload` is unwrapped, and anything else is " +
        "stored as text.",
      credential: "own",
      permission: null,
      params: WebhookParams,
      query: WebhookQuery,
      headers: WebhookHeaders,
      bodies: REQUEST_BODIES,
      bodyOptional: true,
      response: WebhookEventResult,
      responseExample: RESULT_EXAMPLE,
      problems: [
        "unauthorized",
        "permission-denied",
        "validation-failed",
        "webhook-not-found",
        "idempotency-conflict",
        "quota-exceeded",
      ],
      problemSchema: WebhookProblemBody,
      extendProblem: (problem) => ({
        error: problem.slug,
        message: problem.message.slice(0, PROBLEM_DETAIL_MAX_CHARS),
      }),
      async find({ request: { headers }, params, query }) {
        const definitions = await enabledDefinitions(params.webhook_id);
        const definition = await requireAccess(services, headers, query.secret, definitions);
        return { definition, key: idempotencyKeyOf(headers) };
      },
      tenantOf: ({ definition }) => definition.id,
      async handle({ request, found: { definition, key }, body }) {
        const payload = readPayload(body, mediaType(request), charsetOf(request));
        const outcome = await deliver(deliveryServices, definition.id, key, payload);
        return new Response(resultBody(definition.name, outcome), {
          headers: { "content-type": JSON_TYPE },
        });
      },
    }),
  ];
}

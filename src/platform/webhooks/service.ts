import pRetry from "p-retry";
import type { Sql } from "../../db/client.ts";
import { isConflict } from "../../db/errors.ts";
import { inProgress, outcomeUnknown, payloadMismatch } from "../../db/idempotency/conflict.ts";
import { resolveOutcome } from "../../db/idempotency/resolve-outcome.ts";
import { type LeasedServices, withLease } from "../../db/idempotency/with-lease.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { isSamePayload, type Payload } from "./payload.ts";
import { type Delivery, type EventRow, readEvent, storeDelivery } from "./queries.ts";

/**
 * Retries of a delivery when a concurrent one with the same key, or the deletion of the webhook, commits between two
 * statements.
 */
const DELIVERY_RACE_RETRIES = 3;

export const OPERATION = "deliverWebhook";

/** The event of a delivery. */
export interface Outcome {
  readonly event: EventRow;
  /** True when the event was stored by an earlier delivery with the same key. */
  readonly isDuplicate: boolean;
  /** The stored payload as JSON text. */
  readonly payload: string;
}

function newDelivery(definitionId: string, key: string | null, payload: Payload): Delivery {
  // UUIDv7 values ascend with time, so inserts go to one end of the indexes.
  const [event, conversation, message, run] = Array.from({ length: 4 }, () => Bun.randomUUIDv7());
  const ids = { event, conversation, message, run } as Delivery["ids"];
  return { definitionId, key, payload, ids };
}

function mismatch(event: EventRow, baseUrl: string): Problem {
  return payloadMismatch({
    operation: OPERATION,
    detail: "This idempotency key was already used for a delivery with another payload.",
    recovery: {
      available: true,
      description: "This message contains the payload stored for the key.",
      resource_url: `${baseUrl}/conversations/${event.conversation_id}/messages/${event.message_id}`,
    },
  });
}

function stillRunning(heldForMs: number): Problem {
  return inProgress({
    operation: OPERATION,
    detail: "A delivery with this idempotency key is still being processed.",
    expiresAt: new Date(Date.now() + heldForMs),
    recovery: { available: true, description: "Send the same delivery again to get its result." },
  });
}

function unknown(key: string | null, cause: unknown): Problem {
  const description =
    key === null
      ? "Without an idempotency key, sending the delivery again may store it twice."
      : "Send the same delivery again with the same key. It is stored exactly once.";
  return outcomeUnknown({
    operation: OPERATION,
    detail: "The database connection failed while the delivery was stored. Its outcome is unknown.",
    recovery: { available: key !== null, description },
    cause,
  });
}

/** The outcome of a delivery whose key has this event. Throws if the payloads differ. */
function outcomeOf(event: EventRow, delivery: Delivery, baseUrl: string): Outcome {
  if (event.id === delivery.ids.event) {
    return { event, isDuplicate: false, payload: delivery.payload.json };
  }
  const stored = {
    json: event.payload as string,
    isJson: event.is_json,
    fingerprint: event.fingerprint,
  };
  if (!isSamePayload(stored, delivery.payload)) throw mismatch(event, baseUrl);
  return { event, isDuplicate: true, payload: stored.json };
}

/** Stores the delivery, or finds the event that a concurrent delivery stored for its key. */
async function storeOrFind(sql: Sql, delivery: Delivery): Promise<EventRow | undefined> {
  return await pRetry(() => storeDelivery(sql, delivery), {
    retries: DELIVERY_RACE_RETRIES,
    minTimeout: 0,
    shouldRetry: ({ error }) => isConflict(error),
  });
}

/** Stores the delivery, across failures of the database connection. */
async function store({ sql, baseUrl, failpoint }: LeasedServices, delivery: Delivery) {
  failpoint("delivery.leased");
  const event = await resolveOutcome(() => storeOrFind(sql, delivery), {
    unknown: (cause) => unknown(delivery.key, cause),
  });
  failpoint("delivery.committed");
  if (event === undefined) throw new Problem("webhook-not-found");
  return outcomeOf(event, delivery, baseUrl);
}

/**
 * Stores a delivery exactly once per key; without a key, every delivery is stored. Throws
 * `webhook-not-found` if the definition was deleted or disabled meanwhile, and
 * `idempotency-conflict` in each of its three states.
 */
export async function deliver(
  services: LeasedServices,
  definitionId: string,
  key: string | null,
  payload: Payload,
): Promise<Outcome> {
  const { sql, coordinator, baseUrl, failpoint } = services;
  const delivery = newDelivery(definitionId, key, payload);
  failpoint("delivery.received");
  if (key === null) return await store(services, delivery);
  // The id's length keeps names with different ids and keys distinct.
  const name = `webhook:${definitionId.length}:${definitionId}:${key}`;
  const outcome = await withLease(coordinator, name, {
    work: () => store(services, delivery),
    async busy(heldForMs) {
      // The lease may be that of a crashed process, which may have stored the event.
      const event = await readEvent(sql, definitionId, key);
      if (event === undefined) throw stillRunning(heldForMs);
      return outcomeOf(event, delivery, baseUrl);
    },
  });
  failpoint("delivery.released");
  return outcome;
}

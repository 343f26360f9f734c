import type { Coordinator } from "../coordination/coordinator.ts";
import type { Sql } from "../db/client.ts";
import { uniqueViolation } from "../db/errors.ts";
import { inProgress, outcomeUnknown, payloadMismatch } from "../idempotency/conflict.ts";
import { inFlight } from "../idempotency/in-flight.ts";
import { settle } from "../idempotency/settle.ts";
import { Problem } from "../problem/problem.ts";
import type { Step } from "../shared/failpoints.ts";
import { DELIVERY_RIVALS_MAX } from "../shared/limits.ts";
import { isSamePayload, type Payload } from "./payload.ts";
import { type Delivery, type EventRow, keepDelivery, readKeptEvent } from "./queries.ts";

export const OPERATION = "deliverWebhook";

export interface DeliveryServices {
  readonly sql: Sql;
  readonly coordinator: Coordinator;
  readonly baseUrl: string;
  readonly step: Step;
}

/** An event, and whether it had been kept before this delivery came. */
export interface Outcome {
  readonly event: EventRow;
  readonly isDuplicate: boolean;
  /** The payload that was kept, as JSON text. */
  readonly payload: string;
}

function newDelivery(definitionId: string, key: string | null, payload: Payload): Delivery {
  // Ids in the order of time keep the indexes' inserts at one end.
  const [event, conversation, message, run] = Array.from({ length: 4 }, () => Bun.randomUUIDv7());
  const ids = { event, conversation, message, run } as Delivery["ids"];
  return { definitionId, key, payload, ids };
}

function mismatch(event: EventRow, baseUrl: string): Problem {
  return payloadMismatch({
    operation: OPERATION,
    detail: "This idempotency key was used for a delivery with another payload.",
    recovery: {
      available: true,
      description: "The delivery that was kept for the key is this message.",
      resource_url: `${baseUrl}/conversations/${event.conversation_id}/messages/${event.message_id}`,
    },
  });
}

function stillRunning(heldForMs: number): Problem {
  return inProgress({
    operation: OPERATION,
    detail: "A delivery with this idempotency key is being taken at this moment.",
    expiresAt: new Date(Date.now() + heldForMs),
    recovery: { available: true, description: "Send the same delivery again: it gets its result." },
  });
}

function unknown(key: string | null, cause: unknown): Problem {
  const description =
    key === null
      ? "Without an idempotency key the delivery may be taken a second time: send one with it."
      : "Send the same delivery again with the same key: it ends in exactly one event.";
  return outcomeUnknown({
    operation: OPERATION,
    detail: "The database broke off while it kept the delivery, so the outcome is not known.",
    recovery: { available: key !== null, description },
    cause,
  });
}

/** The result of an event for whoever delivers, who may have made it or repeats it. */
function outcomeOf(event: EventRow, delivery: Delivery, baseUrl: string): Outcome {
  if (event.id === delivery.ids.event) {
    return { event, isDuplicate: false, payload: delivery.payload.json };
  }
  const kept = {
    json: event.payload as string,
    isJson: event.is_json,
    fingerprint: event.fingerprint,
  };
  if (!isSamePayload(kept, delivery.payload)) throw mismatch(event, baseUrl);
  return { event, isDuplicate: true, payload: kept.json };
}

/** Keeps the delivery or finds the event of its key, however many rivals there are. */
async function keepOrFind(sql: Sql, delivery: Delivery): Promise<EventRow | undefined> {
  for (let rivals = 0; ; rivals++) {
    try {
      return await keepDelivery(sql, delivery);
    } catch (error) {
      if (uniqueViolation(error) === undefined || rivals >= DELIVERY_RIVALS_MAX) throw error;
    }
  }
}

/** Takes the delivery to its end, whatever becomes of the connection on the way. */
async function take({ sql, baseUrl, step }: DeliveryServices, delivery: Delivery) {
  step("delivery.leased");
  const event = await settle(() => keepOrFind(sql, delivery), {
    unknown: (cause) => unknown(delivery.key, cause),
  });
  step("delivery.kept");
  if (event === undefined) throw new Problem("webhook-not-found");
  return outcomeOf(event, delivery, baseUrl);
}

/**
 * Takes a delivery exactly once. Throws `webhook-not-found` for a definition that has gone
 * meanwhile, and `idempotency-conflict` in each of its three states.
 */
export async function deliver(
  services: DeliveryServices,
  definitionId: string,
  key: string | null,
  payload: Payload,
): Promise<Outcome> {
  const { sql, coordinator, baseUrl, step } = services;
  const delivery = newDelivery(definitionId, key, payload);
  step("delivery.received");
  // Without a key there are no rivals.
  if (key === null) return await take(services, delivery);
  // The id's length keeps the two parts of the name apart.
  const name = `webhook:${definitionId.length}:${definitionId}:${key}`;
  const outcome = await inFlight(coordinator, name, {
    work: () => take(services, delivery),
    async busy(heldForMs) {
      // A crash leaves its lease behind, and may have left the event as well.
      const event = await readKeptEvent(sql, definitionId, key);
      if (event === undefined) throw stillRunning(heldForMs);
      return outcomeOf(event, delivery, baseUrl);
    },
  });
  step("delivery.released");
  return outcome;
}

import fc from "fast-check";
import type { Json } from "../../../support/api/openapi.ts";
import type { Reply } from "../world/requests.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import type { ModelDelivery, ModelWebhook, Scene, Tenant } from "./tenant.ts";

const [OK, CONFLICT] = [200, 409];
const KEYS = 6;
const PAYLOADS = 2;
const COPIES_MAX = 4;

export const payloadOf = (number: number) => ({ number, text: `payload ${number} – ünïcode` });

interface Sent {
  readonly payload: number;
  readonly reply: Reply;
}

function send(
  scene: Scene,
  at: number,
  webhook: ModelWebhook,
  key: string | null,
  payload: number,
) {
  return scene.requests.send(at, "POST", `/webhooks/${webhook.id}`, {
    json: payloadOf(payload),
    headers: {
      "x-service-webhook-secret": webhook.secret,
      ...(key === null ? {} : { "idempotency-key": key }),
    },
  });
}

function noteStored(known: ModelDelivery, payload: number, body: Json): void {
  same("the payload of a delivery", body.payload, payloadOf(payload));
  const stored = { payload, event: body.webhook_event_id as string };
  if (known.stored !== undefined) same("the event of a key", stored, known.stored);
  known.stored = stored;
  if (!body.duplicate) known.fresh++;
  if (known.fresh > 1) throw new Error(`event ${stored.event} is new for the second time`);
}

/** True if the key may have been used with another payload. */
function isMismatch({ stored, perhaps }: ModelDelivery, payload: number): boolean {
  if (stored !== undefined) return stored.payload !== payload;
  return [...perhaps].some((other) => other !== payload);
}

function checkConflict(known: ModelDelivery, payload: number, state: string, alone: boolean) {
  if (state === "payload_mismatch" && !isMismatch(known, payload)) {
    throw new Error(`payload ${payload} mismatches ${JSON.stringify(known.stored)}`);
  }
  if (state === "in_progress" && alone) {
    throw new Error("a delivery is in progress that nobody has sent");
  }
}

/** Compares the answers to simultaneous deliveries with one key with what is known of the key. */
function noteKeyed(scene: Scene, known: ModelDelivery, sent: readonly Sent[]): void {
  const isNew = known.stored === undefined && known.perhaps.size === 0;
  const alone = sent.length === 1 && known.perhaps.size === 0 && scene.world.calmMs > 0;
  for (const { payload, reply } of sent) if (reply.kind === "lost") known.perhaps.add(payload);
  for (const { payload, reply } of sent) {
    if (reply.kind === "answer" && reply.status === OK) noteStored(known, payload, reply.body);
  }
  // Of the payloads that were sent together, any may be stored first.
  const together = {
    ...known,
    perhaps: new Set([...known.perhaps, ...sent.map((s) => s.payload)]),
  };
  for (const { payload, reply } of sent) {
    if (reply.kind !== "answer" || reply.status === OK) continue;
    same(`the status of a delivery, ${JSON.stringify(reply.body)}`, reply.status, CONFLICT);
    const { state } = reply.body.idempotency;
    if (state === "outcome_unknown") known.perhaps.add(payload);
    checkConflict(sent.length > 1 ? together : known, payload, state, alone);
  }
  const first = sent[0]?.reply;
  if (isNew && alone && first?.kind === "answer") same("a first delivery is new", known.fresh, 1);
}

interface KeyedParams {
  readonly webhook: number;
  readonly key: number;
  /** One delivery per payload, all at once. */
  readonly payloads: readonly number[];
  readonly at: number;
}

async function deliver(tenant: Tenant, scene: Scene, params: KeyedParams): Promise<void> {
  const webhook = pick(tenant.webhooks, params.webhook);
  const key = `key-${params.key}`;
  const known = webhook.keyed.get(key) ?? { stored: undefined, perhaps: new Set(), fresh: 0 };
  webhook.keyed.set(key, known);
  const sent = await Promise.all(
    params.payloads.map(async (payload, i) => {
      return { payload, reply: await send(scene, params.at + i, webhook, key, payload) };
    }),
  );
  noteKeyed(scene, known, sent);
}

async function deliverUnkeyed(
  tenant: Tenant,
  scene: Scene,
  params: { webhook: number; payload: number; at: number },
): Promise<void> {
  const webhook = pick(tenant.webhooks, params.webhook);
  const reply = await send(scene, params.at, webhook, null, params.payload);
  if (reply.kind === "lost") webhook.unkeyedPerhaps++;
  if (reply.kind !== "answer") return;
  if (reply.status === OK) {
    same("a delivery without a key is new", reply.body.duplicate, false);
    webhook.unkeyed.add(reply.body.webhook_event_id);
    return;
  }
  same("the status of a delivery", reply.status, CONFLICT);
  same("its conflict", reply.body.idempotency.state, "outcome_unknown");
  webhook.unkeyedPerhaps++;
}

/** After the faults: a retry finds out what became of every key. */
async function settleKeys(scene: Scene, webhook: ModelWebhook): Promise<void> {
  for (const [key, known] of webhook.keyed) {
    const candidates = known.stored === undefined ? [...known.perhaps] : [known.stored.payload];
    if (candidates.length === 0) continue;
    await scene.requests.eventually(`the event of ${key}`, async () => {
      for (const payload of candidates) {
        const reply = await send(scene, payload, webhook, key, payload);
        noteKeyed(scene, known, [{ payload, reply }]);
        if (reply.kind === "answer" && reply.status === OK) return true;
      }
      return undefined;
    });
  }
}

/** Compares the stored rows with what was acknowledged. */
export async function verifyDeliveries(tenant: Tenant, scene: Scene): Promise<void> {
  for (const webhook of tenant.webhooks) {
    await settleKeys(scene, webhook);
    const rows = await scene.world.postgres.sql<
      { id: string; key: string | null; whole: boolean }[]
    >`
      SELECT e.id, e.idempotency_key AS key, m.id IS NOT NULL AND r.id IS NOT NULL AS whole
      FROM webhook_events e
      LEFT JOIN messages m ON m.id = e.message_id AND m.conversation_id = e.conversation_id
      LEFT JOIN runs r ON r.id = e.run_id AND r.message_id = m.id
      WHERE e.webhook_definition_id = ${webhook.id}`;
    same(
      "events without message or run",
      rows.filter(({ whole }) => !whole),
      [],
    );
    const ids = new Set(rows.map(({ id }) => id));
    const stored = [...webhook.keyed.values()].flatMap((known) => known.stored?.event ?? []);
    const lost = [...stored, ...webhook.unkeyed].filter((id) => !ids.has(id));
    same("acknowledged deliveries that are lost", lost, []);
    const keys = rows.flatMap(({ key }) => key ?? []);
    same("keys with several events", new Set(keys).size, keys.length);
    const unkeyed = rows.length - keys.length;
    const most = webhook.unkeyed.size + webhook.unkeyedPerhaps;
    if (unkeyed > most) throw new Error(`${unkeyed} events, but at most ${most} deliveries`);
  }
}

const at = fc.nat(1);
const payload = fc.nat(PAYLOADS - 1);
const several = fc.array(payload, { minLength: 2, maxLength: COPIES_MAX });
const keyed = { webhook: fc.nat(1), key: fc.nat(KEYS), at };

export const deliveryCommands: Commands = [
  weighted(12, "deliver", { ...keyed, payloads: payload.map((number) => [number]) }, deliver),
  weighted(5, "deliver at once", { ...keyed, payloads: several }, deliver),
  weighted(5, "deliver without a key", { webhook: fc.nat(1), payload, at }, deliverUnkeyed),
];

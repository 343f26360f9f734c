import { type Queryable, type Sql, type Transaction, withWriteDeadline } from "../../db/client.ts";
import { bytesOf, type StoredRow } from "../../db/quotas.ts";
import { isStorable } from "../../domain/formats.ts";
import type { PageRange } from "../../domain/page-info.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { Payload } from "./payload.ts";
import type { ListedWebhookEvent, Webhook } from "./schema.ts";

/** An enabled webhook definition. */
export interface Definition {
  readonly id: string;
  /** The id of the definition for its project and its senders. */
  readonly name: string;
  readonly projectId: string;
  readonly secretHash: Uint8Array;
}

/** The enabled definitions with this name, of different projects. */
export async function readDefinitions(sql: Sql, name: string): Promise<Definition[]> {
  const rows = await sql<{ id: string; project_id: string; secret_hash: Uint8Array }[]>`
    SELECT id, project_id, secret_hash FROM webhook_definitions
    WHERE name = ${name} AND enabled ORDER BY created_at, id`;
  return rows.map(({ id, project_id, secret_hash }) => ({
    id,
    name,
    projectId: project_id,
    secretHash: secret_hash,
  }));
}

/** A delivery, with the ids of its rows if it is the first with its key. */
export interface Delivery {
  readonly definitionId: string;
  readonly key: string | null;
  readonly payload: Payload;
  readonly ids: {
    readonly event: string;
    readonly conversation: string;
    readonly message: string;
    readonly run: string;
  };
}

export interface EventRow {
  id: string;
  webhook_definition_id: string;
  project_id: string;
  fingerprint: Uint8Array;
  is_json: boolean;
  conversation_id: string;
  message_id: string;
  run_id: string;
  latest_event_id: string;
  status: string;
  invoked_by: string;
  received_at: Date;
  /** The payload as JSON text; null for an event that the same statement inserted. */
  payload: string | null;
}

/**
 * Stores a delivery atomically. Returns the event of its key, which is new if its `id` is that of
 * the delivery; undefined when the definition is unknown or disabled. Throws a unique violation
 * when a concurrent delivery stored the key first; a retry then returns that event.
 */
export async function storeDelivery(sql: Sql, delivery: Delivery): Promise<EventRow | undefined> {
  const { definitionId, key, payload, ids } = delivery;
  const { event, conversation, message, run } = ids;
  const [row] = await withWriteDeadline(sql<EventRow[]>`
    SELECT id, webhook_definition_id, project_id, fingerprint, is_json, conversation_id,
      message_id, run_id, latest_event_id, status, invoked_by, received_at,
      CASE WHEN id <> ${event}::uuid THEN payload::text END AS payload
    FROM deliver_webhook(${definitionId}, ${key}, ${payload.fingerprint as Buffer}, ${payload.isJson},
      ${payload.json}::text::json, ${[event, conversation, message, run]}::uuid[])`);
  return row;
}

/** The event stored for a key, if there is one. */
export async function readEvent(
  sql: Sql,
  definitionId: string,
  key: string,
): Promise<EventRow | undefined> {
  const [row] = await sql<EventRow[]>`
    SELECT id, webhook_definition_id, project_id, fingerprint, is_json, conversation_id,
      message_id, run_id, latest_event_id, status, invoked_by, received_at, payload::text AS payload
    FROM webhook_events
    WHERE webhook_definition_id = ${definitionId} AND idempotency_key = ${key}`;
  return row;
}

const WEBHOOK_NAME = `(SELECT d.name FROM webhook_definitions d
  WHERE d.id = webhook_events.webhook_definition_id)`;

/** An event in a listing. */
export interface ListedEventRow extends RowOf<ListedWebhookEvent> {
  /** `received_at` in microseconds since 1970, which a Date cannot hold. */
  micros: number;
}

/** An event with its payload. */
interface FullEventRow extends Omit<ListedEventRow, "micros"> {
  run_id: string;
  is_json: boolean;
  /** JSON text. */
  payload: string;
}

/** An event of a project. */
export async function readFullEvent(
  sql: Queryable,
  projectId: string,
  id: string,
): Promise<FullEventRow | undefined> {
  const [row] = await sql<FullEventRow[]>`
    SELECT id, ${sql.unsafe(WEBHOOK_NAME)} AS webhook_id, idempotency_key, conversation_id, message_id,
      run_id, status, received_at, is_json, payload::text AS payload
    FROM webhook_events WHERE id = ${id} AND project_id = ${projectId}`;
  return row;
}

/** The position of an event in the listing of a project, which is unique. */
export type EventPosition = [micros: number, id: string];

/** The events of a project, newest first, or oldest first before one. */
export async function readEvents(
  sql: Queryable,
  projectId: string,
  { after, before, limit }: PageRange<EventPosition>,
): Promise<ListedEventRow[]> {
  const order = before === undefined ? sql`DESC` : sql`ASC`;
  const at = ([micros, id]: EventPosition) =>
    sql`(timestamptz 'epoch' + ${micros}::float8::bigint * interval '1 microsecond', ${id}::uuid)`;
  return await sql<ListedEventRow[]>`
    SELECT id, ${sql.unsafe(WEBHOOK_NAME)} AS webhook_id, idempotency_key, conversation_id, message_id,
      status, received_at, (extract(epoch FROM received_at) * 1000000)::float8 AS micros
    FROM webhook_events WHERE project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND (received_at, id) < ${at(after)}`}
      ${before === undefined ? sql`` : sql`AND (received_at, id) > ${at(before)}`}
    ORDER BY received_at ${order}, id ${order} LIMIT ${limit}`;
}

/** The place of a webhook in the list of a project. */
export type WebhookPosition = [name: string];

/** The webhooks of a project, sorted by id, or in reverse order before a position. */
export async function listDefinitions(
  sql: Queryable,
  projectId: string,
  { after, before, limit }: PageRange<WebhookPosition>,
): Promise<RowOf<Webhook>[]> {
  return await sql<RowOf<Webhook>[]>`
    SELECT name AS id, enabled, conversation_id, created_at FROM webhook_definitions
    WHERE project_id = ${projectId}
      ${after === undefined ? sql`` : sql`AND name COLLATE "C" > ${after[0]}`}
      ${before === undefined ? sql`` : sql`AND name COLLATE "C" < ${before[0]}`}
    ORDER BY name COLLATE "C" ${before === undefined ? sql`ASC` : sql`DESC`} LIMIT ${limit}`;
}

/** Whether the project has this conversation, which stays until the transaction ends. */
export async function hasConversation(
  tx: Transaction,
  projectId: string,
  id: string,
): Promise<boolean> {
  const rows = await tx`
    SELECT FROM conversations WHERE id = ${id} AND project_id = ${projectId} FOR KEY SHARE`;
  return rows.length > 0;
}

interface NewDefinition {
  readonly name: string;
  readonly secret: string;
  readonly enabled: boolean;
  readonly conversationId: string | null;
}

export async function insertDefinition(
  tx: Transaction,
  projectId: string,
  { name, secret, enabled, conversationId }: NewDefinition,
): Promise<RowOf<Webhook> & StoredRow> {
  const hash = new Bun.CryptoHasher("sha256").update(secret).digest();
  const [row] = await tx<[RowOf<Webhook> & StoredRow]>`
    INSERT INTO webhook_definitions (id, name, project_id, secret_hash, enabled, conversation_id)
    VALUES (gen_random_uuid(), ${name}, ${projectId}, ${hash}, ${enabled}, ${conversationId})
    RETURNING name AS id, enabled, conversation_id, created_at, stored_bytes`;
  return row;
}

/** Deletes a definition with its events. Returns their bytes; undefined for an unknown one. */
export async function deleteDefinition(
  tx: Transaction,
  projectId: string,
  name: string,
): Promise<number | undefined> {
  if (!isStorable(name)) return undefined;
  // A delivery that runs holds a lock that this one waits for; a later one finds no definition.
  const [own] = await tx<(StoredRow & { id: string })[]>`
    SELECT id, stored_bytes FROM webhook_definitions
    WHERE project_id = ${projectId} AND name = ${name} FOR UPDATE`;
  if (own === undefined) return undefined;
  const events = await tx<StoredRow[]>`
    WITH deleted AS (
      DELETE FROM webhook_events WHERE webhook_definition_id = ${own.id} RETURNING stored_bytes)
    SELECT coalesce(sum(stored_bytes), 0)::float8 AS stored_bytes FROM deleted`;
  await tx`DELETE FROM webhook_definitions WHERE id = ${own.id}`;
  return bytesOf([own, ...events]);
}

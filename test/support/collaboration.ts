import { createHash, randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";
import type { TestProject } from "./api.ts";

export interface TestWebhook {
  readonly id: string;
  readonly secret: string;
  /** The operation's path for this webhook. */
  readonly path: string;
  /** The headers by which its senders prove themselves. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A webhook definition, with a conversation of its own where one is named. */
export async function addWebhook(
  sql: Sql,
  project: TestProject,
  options: { id?: string; secret?: string; conversationId?: string; enabled?: boolean } = {},
): Promise<TestWebhook> {
  const { id = randomUUID(), secret = `secret-${randomUUID()}`, conversationId, enabled } = options;
  const hash = createHash("sha256").update(secret).digest();
  await sql`
    INSERT INTO webhook_definitions (id, project_id, secret_hash, enabled, conversation_id)
    VALUES (${id}, ${project.id}, ${hash}, ${enabled ?? true}, ${conversationId ?? null})`;
  const path = `/webhooks/${encodeURIComponent(id)}`;
  return { id, secret, path, headers: { "x-service-webhook-secret": secret } };
}

/** What is kept of the deliveries to a webhook. Each delivery must show in every number. */
export async function keptOf(sql: Sql, webhook: TestWebhook) {
  const [row] = await sql<[{ events: number; messages: number; runs: number; keys: number }]>`
    SELECT count(*)::int AS events, count(m.id)::int AS messages, count(r.id)::int AS runs,
      count(DISTINCT e.idempotency_key)::int AS keys
    FROM webhook_events e
    LEFT JOIN messages m ON m.id = e.message_id AND m.conversation_id = e.conversation_id
    LEFT JOIN runs r ON r.id = e.run_id AND r.message_id = m.id
    WHERE e.webhook_definition_id = ${webhook.id}`;
  return row;
}

/** Rows of deliveries that belong to no event: what a torn delivery would leave behind. */
export async function strayRows(sql: Sql): Promise<number> {
  const [row] = await sql<[{ stray: number }]>`
    SELECT ((SELECT count(*) FROM conversations c WHERE c.type = 'webhook'
        AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.conversation_id = c.id))
      + (SELECT count(*) FROM messages m WHERE m.created_by LIKE 'webhook:%'
        AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.message_id = m.id))
      + (SELECT count(*) FROM runs r
        WHERE NOT EXISTS (SELECT FROM webhook_events e WHERE e.run_id = r.id)))::int AS stray`;
  return row.stray;
}

export const FIELDS = [
  { name: "note", type: "text", required: true },
  { name: "count", type: "number" },
  { name: "sure", type: "boolean" },
  { name: "colour", type: "select", options: ["red", "green"] },
  { name: "sizes", type: "multiselect", options: [{ value: "s", label: "Small" }, { value: "l" }] },
];

export interface TestInputRequest {
  readonly id: string;
  readonly conversationId: string;
  readonly path: string;
}

/** An open input request with FIELDS, unless told otherwise. */
export async function addInputRequest(
  sql: Sql,
  conversationId: string,
  options: { status?: string; expiresAt?: Date; fields?: unknown[] } = {},
): Promise<TestInputRequest> {
  const { status = "open", expiresAt = null, fields = FIELDS } = options;
  const id = randomUUID();
  await sql`
    INSERT INTO input_requests (id, conversation_id, status, expires_at, title, fields)
    VALUES (${id}, ${conversationId}, ${status}, ${expiresAt}, 'A question',
      ${sql.json(fields as never)})`;
  const path = `/conversations/${conversationId}/input-requests/${id}/responses`;
  return { id, conversationId, path };
}

/** Holds a table so that nothing can be written to it, until it is let go. */
export async function holdTable(sql: Sql, table: "runs" | "input_responses") {
  const holder = await sql.reserve();
  await holder.unsafe(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  return {
    /** The server processes that wait for the table, once there are so many of them. */
    async waiting(count: number): Promise<number[]> {
      for (;;) {
        const rows = await sql<{ pid: number }[]>`
          SELECT pid FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND wait_event = 'relation'`;
        if (rows.length >= count) return rows.map(({ pid }) => pid);
        await Bun.sleep(10);
      }
    },
    async letGo(): Promise<void> {
      await holder.unsafe("ROLLBACK");
      holder.release();
    },
  };
}

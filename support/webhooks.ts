import { createHash, randomUUID } from "node:crypto";
import type { Sql } from "../src/db/client.ts";
import type { Project } from "./accounts.ts";

export interface TestWebhook {
  readonly id: string;
  readonly secret: string;
  /** Path to which deliveries are posted. */
  readonly path: string;
  /** The headers that authenticate a sender. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A webhook definition; its deliveries go to one conversation if one is given. */
export async function addWebhook(
  sql: Sql,
  project: Project,
  options: {
    id?: string;
    /** The id for the project and its senders; the same as `id` by default. */
    name?: string;
    secret?: string;
    conversationId?: string;
    enabled?: boolean;
  } = {},
): Promise<TestWebhook> {
  const { id = randomUUID(), name = id, secret = `secret-${randomUUID()}` } = options;
  const { conversationId, enabled } = options;
  const hash = createHash("sha256").update(secret).digest();
  await sql`
    INSERT INTO webhook_definitions (id, name, project_id, secret_hash, enabled, conversation_id)
    VALUES (${id}, ${name}, ${project.id}, ${hash}, ${enabled ?? true}, ${conversationId ?? null})`;
  const path = `/webhooks/${encodeURIComponent(name)}`;
  return { id, secret, path, headers: { "x-service-webhook-secret": secret } };
}

/** Counts of the rows stored for a webhook's deliveries. All four must equal the deliveries. */
export async function storedRows(sql: Sql, webhook: TestWebhook) {
  const [row] = await sql<[{ events: number; messages: number; runs: number; keys: number }]>`
    SELECT count(*)::int AS events, count(m.id)::int AS messages, count(r.id)::int AS runs,
      count(DISTINCT e.idempotency_key)::int AS keys
    FROM webhook_events e
    LEFT JOIN messages m ON m.id = e.message_id AND m.conversation_id = e.conversation_id
    LEFT JOIN runs r ON r.id = e.run_id AND r.message_id = m.id
    WHERE e.webhook_definition_id = ${webhook.id}`;
  return row;
}

/** Number of conversations, messages and runs without an event: leftovers of a partial delivery. */
export async function orphanRows(sql: Sql): Promise<number> {
  const [row] = await sql<[{ orphans: number }]>`
    SELECT ((SELECT count(*) FROM conversations c WHERE c.type = 'webhook'
        AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.conversation_id = c.id))
      + (SELECT count(*) FROM messages m WHERE m.created_by LIKE 'webhook:%'
        AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.message_id = m.id))
      + (SELECT count(*) FROM runs r
        WHERE NOT EXISTS (SELECT FROM webhook_events e WHERE e.run_id = r.id)))::int AS orphans`;
  return row.orphans;
}

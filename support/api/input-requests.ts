import { randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";
import { until } from "../until.ts";

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

/** An input request; by default open and with FIELDS. */
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

/** Locks a table until `release` is called: against writes, or against reads as well. */
export async function lockTable(
  sql: Sql,
  table: "runs" | "input_responses" | "chunks",
  mode: "EXCLUSIVE" | "ACCESS EXCLUSIVE" = "EXCLUSIVE",
) {
  const holder = await sql.reserve();
  await holder.unsafe(`BEGIN; LOCK TABLE ${table} IN ${mode} MODE`);
  return {
    /** Waits until `count` backends are blocked on the table, and returns their process ids. */
    async waiting(count: number): Promise<number[]> {
      let rows: { pid: number }[] = [];
      await until(`${count} backends wait for ${table}`, async () => {
        rows = await sql<{ pid: number }[]>`
          SELECT pid FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND wait_event = 'relation'`;
        return rows.length >= count;
      });
      return rows.map(({ pid }) => pid);
    },
    async release(): Promise<void> {
      await holder.unsafe("ROLLBACK");
      holder.release();
    },
  };
}

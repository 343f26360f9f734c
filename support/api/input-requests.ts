import { randomUUID } from "node:crypto";
import type { Sql } from "../../src/db/client.ts";

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

/** The stored columns of an input request. */
export async function storedFor(sql: Sql, { id }: TestInputRequest) {
  const [row] = await sql<{ status: string; expired_at: Date | null; answers: number }[]>`
    SELECT r.status, r.expired_at, count(a.id)::int AS answers
    FROM input_requests r LEFT JOIN input_responses a ON a.input_request_id = r.id
    WHERE r.id = ${id} GROUP BY r.id`;
  return row;
}

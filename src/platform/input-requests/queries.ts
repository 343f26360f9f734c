import { reachesConversation } from "../../auth/conversation-access.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Queryable, Transaction } from "../../db/client.ts";
import { charge, type StoredRow } from "../../db/quotas.ts";
import { LOCK_TIMEOUT_MS } from "../../domain/limits.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { InputRequest, InputResponse } from "./schema.ts";

export interface RequestRow extends RowOf<Omit<InputRequest, "latest_response">> {
  status: "open" | "submitted" | "cancelled" | "expired";
  /** True when `expires_at` has passed, by the database's clock. */
  is_overdue: boolean;
}

export interface ResponseRow extends RowOf<Omit<InputResponse, "values">> {
  /** JSON text. */
  values: string;
}

/** True when the caller has access to the conversation. */
export async function hasAccess(sql: Queryable, principal: Principal, conversationId: string) {
  const rows = await sql`
    SELECT FROM conversations c
    WHERE c.id = ${conversationId} AND ${reachesConversation(sql, principal)}`;
  return rows.length > 0;
}

/** An input request of a conversation. */
function selectRequest(sql: Queryable, conversationId: string, id: string) {
  return sql`
    SELECT id, conversation_id, run_id, tool_call_id, kind, status, requested_responder_type,
      title, description, fields, recommendations, metadata, created_at, expires_at,
      submitted_at, cancelled_at, expired_at,
      coalesce(expires_at <= clock_timestamp(), false) AS is_overdue
    FROM input_requests WHERE conversation_id = ${conversationId} AND id = ${id}`;
}

export async function readRequest(
  sql: Queryable,
  conversationId: string,
  id: string,
): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`${selectRequest(sql, conversationId, id)}`;
  return row;
}

/**
 * As `readRequest`; the row stays locked until the transaction ends. Undefined also while the project of the
 * conversation is being deleted.
 */
export async function lockRequest(
  tx: Transaction,
  conversationId: string,
  id: string,
): Promise<RequestRow | undefined> {
  // Sent together, both statements take one round trip.
  const [, [row]] = await Promise.all([
    tx`SELECT set_config('lock_timeout', ${`${LOCK_TIMEOUT_MS}ms`}, true)`,
    // The condition is decided before any row is locked, and does not depend on rows.
    tx<RequestRow[]>`${selectRequest(tx, conversationId, id)} AND coalesce((
      SELECT lock_project(project_id) FROM conversations
      WHERE id = ${conversationId} AND project_id IS NOT NULL), true) FOR UPDATE`,
  ]);
  return row;
}

export async function readResponse(
  sql: Queryable,
  requestId: string,
): Promise<ResponseRow | undefined> {
  const [row] = await sql<ResponseRow[]>`
    SELECT id, input_request_id, conversation_id, run_id, actor_type, actor_id,
      values::text AS values, created_at
    FROM input_responses WHERE input_request_id = ${requestId}`;
  return row;
}

export async function markExpired(tx: Transaction, requestId: string): Promise<void> {
  await tx`
    UPDATE input_requests SET status = 'expired', expired_at = clock_timestamp()
    WHERE id = ${requestId}`;
}

/** Stores the answer and marks the request as submitted at the same time. */
export async function storeResponse(
  tx: Transaction,
  request: RequestRow,
  answer: { id: string; actorType: string; actorId: string; values: string },
): Promise<{ response: ResponseRow; submittedAt: Date }> {
  const [[stored]] = await Promise.all([
    tx<[ResponseRow & StoredRow & { project: string | null }]>`
      INSERT INTO input_responses
        (id, input_request_id, conversation_id, run_id, actor_type, actor_id, values)
      VALUES (${answer.id}, ${request.id}, ${request.conversation_id}, ${request.run_id},
        ${answer.actorType}, ${answer.actorId}, ${answer.values}::text::json)
      RETURNING id, input_request_id, conversation_id, run_id, actor_type, actor_id,
        values::text AS values, created_at, stored_bytes,
        (SELECT project_id FROM conversations WHERE id = conversation_id) AS project`,
    tx`UPDATE input_requests SET status = 'submitted', submitted_at = now()
       WHERE id = ${request.id}`,
  ]);
  const { project, stored_bytes: bytes, ...response } = stored;
  if (project !== null) await charge(tx, project, { bytes });
  // now() is constant within a transaction.
  return { response, submittedAt: response.created_at };
}

import { reachesConversation } from "../../auth/conversation-access.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Queryable } from "../../db/client.ts";
import { TREE_MAX_BYTES } from "../../domain/limits.ts";
import type { RowOf } from "../../domain/rows.ts";
import type { Conversation, Message } from "./schema.ts";

export type ConversationRow = RowOf<Conversation>;
export type MessageRow = RowOf<Message>;

/** The row of a visible conversation without the message, or without any message. */
export type NoMessage = { [Column in keyof MessageRow]: null };

/** A conversation that the caller has access to. */
export async function readConversation(sql: Queryable, principal: Principal, id: string) {
  const rows = await sql<ConversationRow[]>`
    SELECT id, project_id, type, status, title, summary, current_node, message_count,
      metadata, agent_id, runtime_target_kind, runtime_target_environment_id, runtime_target_branch_id,
      created_by, created_at, updated_at, last_message_at, archived_at
    FROM conversations c WHERE c.id = ${id} AND ${reachesConversation(sql, principal)}`;
  return rows[0];
}

/** A message. Undefined if the conversation is not visible; all null if it lacks the message. */
export async function readMessage(
  sql: Queryable,
  principal: Principal,
  conversationId: string,
  messageId: string | null,
) {
  const rows = await sql<(MessageRow | NoMessage)[]>`
    SELECT t.id, t.conversation_id, t.parent_id, t.seq, t.role, t.parts, t.status, t.created_by,
      t.model, t.token_usage, t.metadata, t.finish_reason, t.cost_credits, t.idempotency_key,
      t.created_at, t.updated_at, t.edited_at
    FROM conversations c
    LEFT JOIN messages t ON t.conversation_id = c.id AND t.id = ${messageId}
    WHERE c.id = ${conversationId} AND ${reachesConversation(sql, principal)}`;
  return rows[0];
}

/**
 * The first `limit` messages in ascending order of seq, or fewer, one at least, if their contents have TREE_MAX_BYTES;
 * `found` counts them without that bound. No row if the conversation is not visible; one row that is all null if it has
 * no messages.
 *
 * Contents are stored compressed. A content whose compressed size is too large is not expanded to measure it.
 */
export async function readMessages(
  sql: Queryable,
  principal: Principal,
  conversationId: string,
  limit: number,
) {
  return await sql<((MessageRow | NoMessage) & { found: number | null })[]>`
    SELECT t.id, t.conversation_id, t.parent_id, t.seq, t.role, t.parts, t.status, t.created_by,
      t.model, t.token_usage, t.metadata, t.finish_reason, t.cost_credits, t.idempotency_key,
      t.created_at, t.updated_at, t.edited_at, t.found
    FROM conversations c
    LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT *, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM (
          SELECT *, octet_length(concat(parts, metadata, token_usage)) AS bytes FROM (
            SELECT *, (count(*) OVER ())::integer AS found,
              sum(stored) OVER (ORDER BY seq) - stored AS stored_before
            FROM (
              SELECT *, pg_column_size(parts) + coalesce(pg_column_size(metadata), 0) +
                coalesce(pg_column_size(token_usage), 0) AS stored
              FROM messages WHERE conversation_id = c.id ORDER BY seq LIMIT ${limit}
            ) first
          ) counted WHERE stored_before < ${TREE_MAX_BYTES}
        ) measured
      ) summed WHERE before < ${TREE_MAX_BYTES}
    ) t ON true
    WHERE c.id = ${conversationId} AND ${reachesConversation(sql, principal)}
    ORDER BY t.seq`;
}

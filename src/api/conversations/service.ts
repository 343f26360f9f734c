import type { Principal } from "../../auth/principal.ts";
import type { Queryable } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";
import { isUuid, timestamp } from "../../shared/formats.ts";
import { TREE_MAX_MESSAGES } from "../../shared/limits.ts";
import { omitNulls } from "../../shared/omit-nulls.ts";
import {
  type ConversationRow,
  type MessageRow,
  type NoMessage,
  readConversation,
  readMessage,
  readMessages,
} from "./queries.ts";
import type { Conversation, Message, MessageTree } from "./schema.ts";

function conversationOf(row: ConversationRow): Conversation {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    message_count: row.message_count,
    metadata: row.metadata,
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
    ...omitNulls({
      project_id: row.project_id,
      title: row.title,
      summary: row.summary,
      current_node: row.current_node,
      agent_id: row.agent_id,
      runtime_target_kind: row.runtime_target_kind,
      runtime_target_environment_id: row.runtime_target_environment_id,
      runtime_target_branch_id: row.runtime_target_branch_id,
      last_message_at: timestamp(row.last_message_at),
      archived_at: timestamp(row.archived_at),
    }),
  };
}

function messageOf(row: MessageRow): Message {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    seq: row.seq,
    role: row.role,
    parts: row.parts,
    status: row.status,
    token_usage: row.token_usage,
    metadata: row.metadata,
    created_at: timestamp(row.created_at),
    ...omitNulls({
      parent_id: row.parent_id,
      created_by: row.created_by,
      model: row.model,
      finish_reason: row.finish_reason,
      cost_credits: row.cost_credits,
      idempotency_key: row.idempotency_key,
      updated_at: timestamp(row.updated_at),
      edited_at: timestamp(row.edited_at),
    }),
  };
}

function isMessage(row: MessageRow | NoMessage): row is MessageRow {
  return row.id !== null;
}

/** The conversation with this id. Throws `conversation-not-found`. */
export async function getConversation(
  sql: Queryable,
  principal: Principal,
  id: string,
): Promise<Conversation> {
  const row = isUuid(id) ? await readConversation(sql, principal, id) : undefined;
  if (row === undefined) throw new Problem("conversation-not-found");
  return conversationOf(row);
}

/** A message. Throws `conversation-not-found`, or `message-not-found` in a visible conversation. */
export async function getMessage(
  sql: Queryable,
  principal: Principal,
  conversationId: string,
  messageId: string,
): Promise<Message> {
  const id = isUuid(messageId) ? messageId : null;
  const row = isUuid(conversationId)
    ? await readMessage(sql, principal, conversationId, id)
    : undefined;
  if (row === undefined) throw new Problem("conversation-not-found");
  if (!isMessage(row)) throw new Problem("message-not-found");
  return messageOf(row);
}

/**
 * The messages in ascending order of seq, at most TREE_MAX_MESSAGES and hardly more than TREE_MAX_BYTES.
 * Throws `conversation-not-found`.
 */
export async function getTree(
  sql: Queryable,
  principal: Principal,
  conversationId: string,
): Promise<MessageTree> {
  // One extra row shows whether there are more messages.
  const limit = TREE_MAX_MESSAGES + 1;
  const rows = isUuid(conversationId)
    ? await readMessages(sql, principal, conversationId, limit)
    : [];
  if (rows.length === 0) throw new Problem("conversation-not-found");
  const shown = rows.slice(0, TREE_MAX_MESSAGES);
  const items = shown.flatMap((row) => (isMessage(row) ? [messageOf(row)] : []));
  return { items, truncated: (rows[0]?.found ?? 0) > items.length };
}

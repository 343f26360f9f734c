import type { Principal } from "../auth/principal.ts";
import type { Queryable } from "../db/client.ts";
import { Problem } from "../problem/problem.ts";
import { isUuid, timestamp } from "../shared/formats.ts";
import { TREE_MAX_MESSAGES } from "../shared/limits.ts";
import {
  type ConversationRow,
  type MessageRow,
  type NoMessage,
  readConversation,
  readMessage,
  readMessages,
} from "./queries.ts";
import type { Conversation, Message, MessageTree } from "./schema.ts";

/** Sets an optional member only where there is a value: absent members are left out, not null. */
function put<T extends object, K extends keyof T>(target: T, name: K, value: T[K] | null): void {
  if (value !== null) target[name] = value;
}

function conversationOf(row: ConversationRow): Conversation {
  const conversation: Conversation = {
    id: row.id,
    type: row.type,
    status: row.status,
    message_count: row.message_count,
    metadata: row.metadata,
    created_by: row.created_by,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
  put(conversation, "project_id", row.project_id);
  put(conversation, "title", row.title);
  put(conversation, "summary", row.summary);
  put(conversation, "current_node", row.current_node);
  put(conversation, "agent_id", row.agent_id);
  put(conversation, "runtime_target_kind", row.runtime_target_kind);
  put(conversation, "runtime_target_environment_id", row.runtime_target_environment_id);
  put(conversation, "runtime_target_branch_id", row.runtime_target_branch_id);
  put(conversation, "last_message_at", timestamp(row.last_message_at));
  put(conversation, "archived_at", timestamp(row.archived_at));
  return conversation;
}

function messageOf(row: MessageRow): Message {
  const message: Message = {
    id: row.id,
    conversation_id: row.conversation_id,
    seq: row.seq,
    role: row.role,
    parts: row.parts,
    status: row.status,
    token_usage: row.token_usage,
    metadata: row.metadata,
    created_at: timestamp(row.created_at),
  };
  put(message, "parent_id", row.parent_id);
  put(message, "created_by", row.created_by);
  put(message, "model", row.model);
  put(message, "finish_reason", row.finish_reason);
  put(message, "cost_credits", row.cost_credits);
  put(message, "idempotency_key", row.idempotency_key);
  put(message, "updated_at", timestamp(row.updated_at));
  put(message, "edited_at", timestamp(row.edited_at));
  return message;
}

function isMessage(row: MessageRow | NoMessage): row is MessageRow {
  return row.id !== null;
}

/** The conversation of this id. Throws `conversation-not-found`. */
export async function getConversation(
  sql: Queryable,
  principal: Principal,
  id: string,
): Promise<Conversation> {
  const row = isUuid(id) ? await readConversation(sql, principal, id) : undefined;
  if (row === undefined) throw new Problem("conversation-not-found");
  return conversationOf(row);
}

/** One message. Throws `conversation-not-found`, or `message-not-found` in one that is reached. */
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

/** The messages by seq, at most TREE_MAX_MESSAGES. Throws `conversation-not-found`. */
export async function getTree(
  sql: Queryable,
  principal: Principal,
  conversationId: string,
): Promise<MessageTree> {
  // One more than is answered tells whether there are more.
  const limit = TREE_MAX_MESSAGES + 1;
  const rows = isUuid(conversationId)
    ? await readMessages(sql, principal, conversationId, limit)
    : [];
  if (rows.length === 0) throw new Problem("conversation-not-found");
  const truncated = rows.length > TREE_MAX_MESSAGES;
  const items = rows.slice(0, TREE_MAX_MESSAGES).filter(isMessage).map(messageOf);
  return { items, truncated };
}

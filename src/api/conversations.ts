import type { Principal } from "../auth/principal.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { isUuid } from "../domain/formats.ts";
import { TREE_MAX_MESSAGES } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";
import { omitNulls, withTimes } from "../domain/rows.ts";
import { type Operation, operation } from "../http/operation.ts";
import {
  type ConversationRow,
  type MessageRow,
  type NoMessage,
  readConversation,
  readMessage,
  readMessages,
} from "../platform/conversations/queries.ts";
import {
  Conversation,
  ConversationParams,
  Message,
  MessageParams,
  MessageTree,
} from "../platform/conversations/schema.ts";

const CONVERSATION_EXAMPLE: Conversation = {
  id: "6f1c2f64-3b0e-4b3e-9f0a-2d9c0c3f7a11",
  project_id: "ef10a346-3a8f-59f6-bafe-66a103e868f8",
  type: "chat",
  status: "active",
  title: "Which release is live?",
  message_count: 2,
  metadata: null,
  created_by: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
  created_at: "2026-01-05T09:30:00.000Z",
  updated_at: "2026-01-05T09:31:12.480Z",
  last_message_at: "2026-01-05T09:31:12.480Z",
};
const MESSAGE_EXAMPLE: Message = {
  id: "b7c3a9de-1f20-4c6b-8a5d-0e9f8d7c6b5a",
  conversation_id: CONVERSATION_EXAMPLE.id,
  parent_id: "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d",
  seq: 2,
  role: "assistant",
  parts: [{ type: "text", text: "v1.4.0 is live." }],
  status: "completed",
  token_usage: { input: 812, output: 9 },
  finish_reason: "stop",
  metadata: null,
  created_at: "2026-01-05T09:31:12.480Z",
};

const conversationOf = ({ metadata, ...row }: ConversationRow): Conversation => ({
  metadata,
  ...omitNulls(withTimes(row)),
});

const messageOf = ({ token_usage, metadata, ...row }: MessageRow): Message => ({
  token_usage,
  metadata,
  ...omitNulls(withTimes(row)),
});

function isMessage(row: MessageRow | NoMessage): row is MessageRow {
  return row.id !== null;
}

/** The conversation with this id. Throws `conversation-not-found`. */
async function getConversation(
  sql: Queryable,
  principal: Principal,
  id: string,
): Promise<Conversation> {
  const row = isUuid(id) ? await readConversation(sql, principal, id) : undefined;
  if (row === undefined) throw new Problem("conversation-not-found");
  return conversationOf(row);
}

/** A message. Throws `conversation-not-found`, or `message-not-found` in a visible conversation. */
async function getMessage(
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
async function getTree(
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
  const items = shown.flatMap(({ found: _, ...row }) => (isMessage(row) ? [messageOf(row)] : []));
  return { items, truncated: (rows[0]?.found ?? 0) > items.length };
}

/** Operations that read conversations, their message trees, and single messages. */
export function conversationOperations({ sql }: { sql: Sql }): Operation[] {
  const common = { method: "GET", tag: "Conversations", permission: "conversations.read" } as const;
  return [
    operation({
      ...common,
      id: "getConversation",
      path: "/conversations/{id}",
      summary: "Read a conversation",
      params: ConversationParams,
      response: Conversation,
      responseExample: CONVERSATION_EXAMPLE,
      conditional: true,
      problems: ["conversation-not-found"],
      handle: ({ params, principal }) => getConversation(sql, principal, params.id),
    }),
    operation({
      ...common,
      id: "getConversationTree",
      path: "/conversations/{id}/tree",
      summary: "Read all messages of a conversation, including branches",
      params: ConversationParams,
      response: MessageTree,
      responseExample: { items: [MESSAGE_EXAMPLE], truncated: false },
      conditional: true,
      problems: ["conversation-not-found"],
      handle: ({ params, principal }) => getTree(sql, principal, params.id),
    }),
    operation({
      ...common,
      id: "getMessage",
      path: "/conversations/{conversation_id}/messages/{message_id}",
      summary: "Read a message",
      params: MessageParams,
      response: Message,
      responseExample: MESSAGE_EXAMPLE,
      conditional: true,
      problems: ["conversation-not-found", "message-not-found"],
      handle: ({ params, principal }) =>
        getMessage(sql, principal, params.conversation_id, params.message_id),
    }),
  ];
}

import type { Principal } from "../../auth/principal.ts";
import type { Queryable } from "../../db/client.ts";
import { Problem } from "../../problem/problem.ts";
import { isUuid } from "../../shared/formats.ts";
import { TREE_MAX_MESSAGES } from "../../shared/limits.ts";
import { omitNulls, withTimes } from "../../shared/rows.ts";
import {
  type ConversationRow,
  type MessageRow,
  type NoMessage,
  readConversation,
  readMessage,
  readMessages,
} from "./queries.ts";
import type { Conversation, Message, MessageTree } from "./schema.ts";

const conversationOf = ({ metadata, ...row }: ConversationRow): Conversation => ({
  metadata,
  ...omitNulls(withTimes(row)),
});

const messageOf = ({ token_usage, metadata, ...row }: MessageRow): Message => ({
  ...{ token_usage, metadata },
  ...omitNulls(withTimes(row)),
});

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
  const items = shown.flatMap(({ found: _, ...row }) => (isMessage(row) ? [messageOf(row)] : []));
  return { items, truncated: (rows[0]?.found ?? 0) > items.length };
}

import { type Static, Type } from "@sinclair/typebox";
import { TREE_MAX_BYTES, TREE_MAX_MESSAGES } from "../../domain/limits.ts";
import {
  anyObject,
  dateTime,
  described,
  flag,
  listOf,
  number,
  text,
} from "../../domain/schemas.ts";

const optionalText = (description: string) => Type.Optional(text(description));
const optionalDateTime = (description: string) => Type.Optional(dateTime(description));
const nullableObject = (description: string) =>
  Type.Optional(Type.Union([anyObject(description), Type.Null()], { description }));

const CONVERSATION_ID = "The conversation's id.";

const conversationId = text(CONVERSATION_ID, "9d2c4b6a-1e3f-4a5b-8c7d-0f1e2d3c4b5a");

export const ConversationParams = Type.Object({ id: conversationId });
export const MessageParams = Type.Object({
  conversation_id: conversationId,
  message_id: text("The message's id.", "0198c0de-0000-7000-8000-000000000003"),
});

export const Conversation = described("Conversation", "A conversation, without its messages.", {
  id: text(CONVERSATION_ID),
  title: optionalText("The title."),
  type: text("The kind of conversation."),
  summary: optionalText("A summary of the conversation so far."),
  status: text("The status of the conversation."),
  message_count: number("The number of messages."),
  project_id: optionalText(
    "The project whose members have access. Without one, only the creator has access.",
  ),
  current_node: optionalText("The last message of the displayed branch."),
  metadata: nullableObject("Custom data of the creator, or null."),
  agent_id: optionalText("The agent that participates."),
  runtime_target_kind: optionalText("The kind of target that runs execute on."),
  runtime_target_environment_id: optionalText("The environment that runs execute on."),
  runtime_target_branch_id: optionalText("The branch that runs execute on."),
  created_by: text("The id of the user who created the conversation."),
  created_at: dateTime("When the conversation was created."),
  updated_at: dateTime("When the conversation last changed."),
  last_message_at: optionalDateTime("When the last message was added."),
  archived_at: optionalDateTime("When the conversation was archived."),
});
export type Conversation = Static<typeof Conversation>;

export const Message = Type.Object(
  {
    id: text("The message's id."),
    role: text("The author's role, e.g. `user` or `assistant`."),
    parts: listOf(anyObject("One part of the content."), "The parts of the content."),
    status: text("The status of the message."),
    seq: number("The position in the conversation, in order of creation."),
    parent_id: optionalText("The message that this one replies to. Absent for a root message."),
    conversation_id: text(CONVERSATION_ID),
    created_by: optionalText("Who wrote the message."),
    model: optionalText("The model that wrote the message."),
    token_usage: nullableObject("The tokens used; null when unknown."),
    finish_reason: optionalText("Why the model stopped."),
    cost_credits: optionalText("The cost in credits, as a decimal number."),
    idempotency_key: optionalText("The idempotency key that the message was sent with."),
    metadata: nullableObject("Custom data, or null."),
    created_at: dateTime("When the message was created."),
    updated_at: optionalDateTime("When the message last changed."),
    edited_at: optionalDateTime("When the author last edited the message."),
  },
  { title: "Message", description: "A message. Messages form a tree through `parent_id`." },
);
export type Message = Static<typeof Message>;

export const MessageTree = Type.Object(
  {
    items: listOf(
      Message,
      `The messages in ascending order of \`seq\`, at most ${TREE_MAX_MESSAGES}. Fewer, one at least, if ` +
        `their contents have more than ${TREE_MAX_BYTES} bytes.`,
    ),
    truncated: flag("True when the conversation has more messages than `items`."),
  },
  { title: "MessageTree", description: "The messages of a conversation, including branches." },
);
export type MessageTree = Static<typeof MessageTree>;

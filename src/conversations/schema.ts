import { type Static, type TProperties, Type } from "@sinclair/typebox";

const text = (description: string) => Type.String({ description });
const optionalText = (description: string) => Type.Optional(Type.String({ description }));
const moment = (description: string) => Type.String({ format: "date-time", description });
const optionalMoment = (description: string) => Type.Optional(moment(description));
const anyObject = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });
const nullableObject = (description: string) =>
  Type.Optional(Type.Union([anyObject(description), Type.Null()], { description }));
const path = <T extends TProperties>(properties: T) => Type.Object(properties);

const CONVERSATION_ID = "The conversation's id.";

export const ConversationParams = path({ id: text(CONVERSATION_ID) });
export const MessageParams = path({
  conversation_id: text(CONVERSATION_ID),
  message_id: text("The message's id."),
});

export const Conversation = Type.Object(
  {
    id: text("The conversation's id."),
    project_id: optionalText("The project whose members it belongs to; absent: its maker alone."),
    type: text("What kind of conversation it is."),
    status: text("Where it stands."),
    title: optionalText("A title for people."),
    summary: optionalText("What it is about so far."),
    current_node: optionalText("The message at the tip of the branch that is shown."),
    message_count: Type.Number({ description: "How many messages it has." }),
    metadata: nullableObject("Whatever the maker attached; null when nothing."),
    agent_id: optionalText("The agent that takes part."),
    runtime_target_kind: optionalText("What its runs run on."),
    runtime_target_environment_id: optionalText("The environment that its runs run on."),
    runtime_target_branch_id: optionalText("The branch that its runs run on."),
    created_by: text("Who made it: a user's id."),
    created_at: moment("When it was made."),
    updated_at: moment("When it last changed."),
    last_message_at: optionalMoment("When the last message came."),
    archived_at: optionalMoment("When it was archived."),
  },
  { description: "A conversation, without its messages." },
);
export type Conversation = Static<typeof Conversation>;

export const Message = Type.Object(
  {
    id: text("The message's id."),
    conversation_id: text(CONVERSATION_ID),
    parent_id: optionalText("The message that this one answers; absent at a root."),
    seq: Type.Number({ description: "Its number in the order in which messages came." }),
    role: text("Who speaks, e.g. `user` or `assistant`."),
    parts: Type.Array(anyObject("One part of the contents."), { description: "The contents." }),
    status: text("Where it stands."),
    created_by: optionalText("Who wrote it."),
    model: optionalText("The model that wrote it."),
    token_usage: nullableObject("Tokens that it took; null when unknown."),
    finish_reason: optionalText("Why the model stopped."),
    cost_credits: optionalText("What it cost, as a decimal number."),
    idempotency_key: optionalText("The key under which it was sent."),
    metadata: nullableObject("Whatever was attached; null when nothing."),
    created_at: moment("When it came."),
    updated_at: optionalMoment("When it last changed."),
    edited_at: optionalMoment("When its author last edited it."),
  },
  { description: "A message; messages form a tree through `parent_id`." },
);
export type Message = Static<typeof Message>;

export const MessageTree = Type.Object(
  {
    items: Type.Array(Message, { description: "The messages by `seq`, at most 1,000." }),
    truncated: Type.Boolean({ description: "True when the conversation has more messages." }),
  },
  { description: "The messages of a conversation, branches included." },
);
export type MessageTree = Static<typeof MessageTree>;

import { type Static, Type } from "@sinclair/typebox";

export const AnswerParams = Type.Object({
  conversation_id: Type.String({ description: "The conversation's ID." }),
  input_request_id: Type.String({ description: "The input request's ID." }),
});

export const AnswerBody = Type.Object({
  values: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "The answer by field name. Null for a field that is not required counts as no answer.",
  }),
});

const uuid = (description: string) => Type.String({ format: "uuid", description });
const text = (description: string) => Type.String({ description });
const moment = (description: string) => Type.String({ format: "date-time", description });
const document = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description });

export const InputResponse = Type.Object(
  {
    id: uuid("The response's id."),
    input_request_id: uuid("The input request that it answers."),
    conversation_id: uuid("The conversation of both."),
    run_id: Type.Optional(text("The run that asked.")),
    actor_type: text("`human`."),
    actor_id: text("The user who answered."),
    values: document("The answer by field name."),
    created_at: moment("When it was given."),
  },
  { description: "The answer to an input request." },
);
export type InputResponse = Static<typeof InputResponse>;

export const InputRequest = Type.Object(
  {
    id: uuid("The input request's id."),
    conversation_id: uuid("The conversation in which it was asked."),
    run_id: Type.Optional(text("The run that asks.")),
    tool_call_id: Type.Optional(text("The tool call that waits for the answer.")),
    kind: text("What kind of request it is, e.g. `form`."),
    status: text("`open`, `submitted`, `cancelled` or `expired`."),
    requested_responder_type: text("Who should answer, e.g. `human`."),
    title: Type.Optional(text("The question in short.")),
    description: Type.Optional(text("The question at length.")),
    fields: Type.Array(document("One field."), {
      description: "The fields of the answer: `name`, `type`, `required` and `options` of each.",
    }),
    recommendations: Type.Optional(document("Values that are suggested.")),
    metadata: Type.Optional(document("Whatever was attached.")),
    created_at: moment("When it was asked."),
    expires_at: Type.Optional(moment("Until when it may be answered.")),
    submitted_at: Type.Optional(moment("When it was answered.")),
    cancelled_at: Type.Optional(moment("When it was cancelled.")),
    expired_at: Type.Optional(moment("When it was found to be over.")),
    latest_response: Type.Optional(InputResponse),
  },
  { description: "A question that a run has asked in a conversation." },
);
export type InputRequest = Static<typeof InputRequest>;

export const AnswerResult = Type.Object(
  {
    success: Type.Boolean({ description: "True." }),
    input_request: InputRequest,
    input_response: InputResponse,
    accepted: Type.Boolean({ description: "True: the stored answer is this one." }),
    duplicate: Type.Boolean({ description: "True when the same answer had been stored before." }),
  },
  { description: "What became of an answer." },
);
export type AnswerResult = Static<typeof AnswerResult>;

const RESPONSE_EXAMPLE: InputResponse = {
  id: "0198c0de-0000-7000-8000-00000000000a",
  input_request_id: "3f0a9b1c-6f7d-4f0e-9b51-2d2f4a7c8e10",
  conversation_id: "9d2c4b6a-1e3f-4a5b-8c7d-0f1e2d3c4b5a",
  actor_type: "human",
  actor_id: "5b7e2f4a-8c1d-4e6f-a3b2-c4d5e6f7a8b9",
  values: { environment: "production", approve: true },
  created_at: "2026-01-02T03:04:05.678Z",
};

export const RESULT_EXAMPLE: AnswerResult = {
  success: true,
  input_request: {
    id: RESPONSE_EXAMPLE.input_request_id,
    conversation_id: RESPONSE_EXAMPLE.conversation_id,
    kind: "form",
    status: "submitted",
    requested_responder_type: "human",
    title: "Deploy?",
    fields: [
      { name: "environment", type: "select", required: true, options: ["staging", "production"] },
      { name: "approve", type: "boolean", required: true },
    ],
    created_at: "2026-01-02T03:00:00.000Z",
    submitted_at: "2026-01-02T03:04:05.678Z",
    latest_response: RESPONSE_EXAMPLE,
  },
  input_response: RESPONSE_EXAMPLE,
  accepted: true,
  duplicate: false,
};

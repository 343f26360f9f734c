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

const Uuid = Type.String({ format: "uuid" });
const Moment = Type.String({ format: "date-time" });
const Document = Type.Record(Type.String(), Type.Unknown());

export const InputResponse = Type.Object(
  {
    id: Uuid,
    input_request_id: Uuid,
    conversation_id: Uuid,
    run_id: Type.Optional(Type.String()),
    actor_type: Type.String({ description: "`human`, or `api_key` for an answer by API key." }),
    actor_id: Type.String({ description: "The user who answered." }),
    values: Document,
    created_at: Moment,
  },
  { description: "The answer to an input request." },
);
export type InputResponse = Static<typeof InputResponse>;

export const InputRequest = Type.Object(
  {
    id: Uuid,
    conversation_id: Uuid,
    run_id: Type.Optional(Type.String()),
    tool_call_id: Type.Optional(Type.String()),
    kind: Type.String(),
    status: Type.String({ description: "`open`, `submitted`, `cancelled` or `expired`." }),
    requested_responder_type: Type.String(),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    fields: Type.Array(Document),
    recommendations: Type.Optional(Document),
    metadata: Type.Optional(Document),
    created_at: Moment,
    expires_at: Type.Optional(Moment),
    submitted_at: Type.Optional(Moment),
    cancelled_at: Type.Optional(Moment),
    expired_at: Type.Optional(Moment),
    latest_response: Type.Optional(InputResponse),
  },
  { description: "A question that a run has asked in a conversation." },
);
export type InputRequest = Static<typeof InputRequest>;

export const AnswerResult = Type.Object(
  {
    success: Type.Boolean(),
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

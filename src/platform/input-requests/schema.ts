import { type Static, Type } from "@sinclair/typebox";
import { dateTime, described, flag, listOf, text, titled, uuid } from "../../domain/schemas.ts";

export const AnswerParams = Type.Object({
  conversation_id: text("The conversation's id.", "9d2c4b6a-1e3f-4a5b-8c7d-0f1e2d3c4b5a"),
  input_request_id: text("The input request's id.", "3f0a9b1c-6f7d-4f0e-9b51-2d2f4a7c8e10"),
});

export const AnswerBody = titled("NewInputResponse", {
  values: Type.Record(Type.String(), Type.Unknown(), {
    description: "The values by field name. Null counts as absent.",
    keptAsSent: true,
  }),
});

const document = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description });

export const InputResponse = described("InputResponse", "The answer to an input request.", {
  id: uuid("The response's id."),
  values: document("The values by field name."),
  input_request_id: uuid("The input request that was answered."),
  conversation_id: uuid("The conversation of the input request."),
  run_id: Type.Optional(text("The run that asked for the input.")),
  actor_type: text("Always `human`."),
  actor_id: text("The user who answered."),
  created_at: dateTime("When the answer was stored."),
});
export type InputResponse = Static<typeof InputResponse>;

export const InputRequest = Type.Object(
  {
    id: uuid("The input request's id."),
    title: Type.Optional(text("A short form of the question.")),
    description: Type.Optional(text("The full question.")),
    kind: text("The kind of request, e.g. `form`."),
    status: text("`open`, `submitted`, `cancelled` or `expired`."),
    fields: listOf(
      document("A field of the answer."),
      "The fields of the answer, each with `name`, `type`, `required` and `options`.",
    ),
    recommendations: Type.Optional(document("Suggested values.")),
    requested_responder_type: text("Who should answer, e.g. `human`."),
    conversation_id: uuid("The conversation of the input request."),
    run_id: Type.Optional(text("The run that asks for the input.")),
    tool_call_id: Type.Optional(text("The tool call that waits for the answer.")),
    metadata: Type.Optional(document("Custom data.")),
    latest_response: Type.Optional(InputResponse),
    created_at: dateTime("When the request was created."),
    expires_at: Type.Optional(dateTime("When the request expires.")),
    submitted_at: Type.Optional(dateTime("When the request was answered.")),
    cancelled_at: Type.Optional(dateTime("When the request was cancelled.")),
    expired_at: Type.Optional(dateTime("When the request was marked as expired.")),
  },
  { title: "InputRequest", description: "A request for input by a run, in a conversation." },
);
export type InputRequest = Static<typeof InputRequest>;

export const AnswerResult = described("InputResponseResult", "The result of an answer.", {
  success: flag("Always true."),
  input_request: InputRequest,
  input_response: InputResponse,
  accepted: flag("Always true: the stored answer has these values."),
  duplicate: flag("True when the answer was already stored."),
});
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

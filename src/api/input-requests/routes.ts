import { referenceId } from "../../auth/project-access.ts";
import type { Config } from "../../config/schema.ts";
import type { Coordinator } from "../../coordination/coordinator.ts";
import type { Sql } from "../../db/client.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { Problem } from "../../problem/problem.ts";
import { createFailpoints } from "../../shared/failpoints.ts";
import { timestamp } from "../../shared/formats.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { omitNulls } from "../../shared/omit-nulls.ts";
import type { RequestRow, ResponseRow } from "./queries.ts";
import {
  AnswerBody,
  AnswerParams,
  AnswerResult,
  type InputRequest,
  type InputResponse,
  RESULT_EXAMPLE,
} from "./schema.ts";
import { type Answered, answerRequest, OPERATION } from "./service.ts";

/** The nil UUID, which no request has. */
const NO_REQUEST = "00000000-0000-0000-0000-000000000000";

function responseBody(row: ResponseRow): InputResponse {
  return omitNulls({
    id: row.id,
    input_request_id: row.input_request_id,
    conversation_id: row.conversation_id,
    run_id: row.run_id,
    actor_type: row.actor_type,
    actor_id: row.actor_id,
    values: parseJson(row.values) as InputResponse["values"],
    created_at: timestamp(row.created_at),
  });
}

function requestBody(row: RequestRow, response: InputResponse): InputRequest {
  return omitNulls({
    id: row.id,
    conversation_id: row.conversation_id,
    run_id: row.run_id,
    tool_call_id: row.tool_call_id,
    kind: row.kind,
    status: row.status,
    requested_responder_type: row.requested_responder_type,
    title: row.title,
    description: row.description,
    fields: row.fields,
    recommendations: row.recommendations,
    metadata: row.metadata,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    submitted_at: timestamp(row.submitted_at),
    cancelled_at: timestamp(row.cancelled_at),
    expired_at: timestamp(row.expired_at),
    latest_response: response,
  });
}

function resultBody({ request, response, isDuplicate }: Answered): AnswerResult {
  const stored = responseBody(response);
  return {
    success: true,
    input_request: requestBody(request, stored),
    input_response: stored,
    accepted: true,
    duplicate: isDuplicate,
  };
}

/** POST /conversations/{conversation_id}/input-requests/{input_request_id}/responses. */
export function inputRequestOperations(services: {
  readonly config: Config;
  readonly baseUrl: string;
  readonly sql: Sql;
  readonly coordinator: Coordinator;
}): Operation[] {
  const answerServices = { ...services, failpoint: createFailpoints(services.config.failpoints) };
  return [
    operation({
      id: OPERATION,
      method: "POST",
      path: "/conversations/{conversation_id}/input-requests/{input_request_id}/responses",
      tag: "Conversations",
      summary: "Answer an input request",
      description:
        "The values are validated against the fields of the request. The first answer is stored. " +
        "Sending the same values again returns it with `duplicate` true. Other values are a " +
        "conflict, and so is an answer that arrives while another is being stored.",
      permission: "input_requests.respond",
      params: AnswerParams,
      body: AnswerBody,
      bodyExample: { values: RESULT_EXAMPLE.input_response.values },
      response: AnswerResult,
      responseExample: RESULT_EXAMPLE,
      problems: [
        "conversation-not-found",
        "input-request-not-found",
        "input-request-closed",
        "idempotency-conflict",
        "quota-exceeded",
      ],
      async handle({ params, body, principal }) {
        const conversationId = referenceId(params.conversation_id);
        if (conversationId === null) throw new Problem("conversation-not-found");
        // With a malformed id, access to the conversation must still be checked first.
        const requestId = referenceId(params.input_request_id) ?? NO_REQUEST;
        const answer = { principal, conversationId, requestId, values: body.values };
        return resultBody(await answerRequest(answerServices, answer));
      },
    }),
  ];
}

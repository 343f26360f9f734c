import type { Sql } from "../db/client.ts";
import type { Coordinator } from "../db/coordination/coordinator.ts";
import { isUuid } from "../domain/formats.ts";
import { parseJson } from "../domain/json/parse.ts";
import { Problem } from "../domain/problem/problem.ts";
import { omitNulls, withTimes } from "../domain/rows.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { Config } from "../ops/config/schema.ts";
import { createFailpoints } from "../ops/failpoints.ts";
import {
  AnswerBody,
  AnswerParams,
  AnswerResult,
  type InputResponse,
  RESULT_EXAMPLE,
} from "../platform/input-requests/schema.ts";
import { type Answered, answerRequest, OPERATION } from "../platform/input-requests/service.ts";

/** The nil UUID, which no request has. */
const NO_REQUEST = "00000000-0000-0000-0000-000000000000";

const uuidOf = (id: string): string | null => (isUuid(id) ? id.toLowerCase() : null);

function resultBody({ request, response, isDuplicate }: Answered): AnswerResult {
  const values = parseJson(response.values) as InputResponse["values"];
  const stored = { ...omitNulls(withTimes(response)), values };
  const { is_overdue: _, ...row } = request;
  return {
    success: true,
    input_request: { ...omitNulls(withTimes(row)), latest_response: stored },
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
        const conversationId = uuidOf(params.conversation_id);
        if (conversationId === null) throw new Problem("conversation-not-found");
        // With a malformed id, access to the conversation must still be checked first.
        const requestId = uuidOf(params.input_request_id) ?? NO_REQUEST;
        const answer = { principal, conversationId, requestId, values: body.values };
        return resultBody(await answerRequest(answerServices, answer));
      },
    }),
  ];
}

import type { Principal } from "../auth/principal.ts";
import type { Sql, Transaction } from "../db/client.ts";
import { isLockTimeout } from "../db/errors.ts";
import { transaction } from "../db/transaction.ts";
import { inProgress, outcomeUnknown, payloadMismatch } from "../idempotency/conflict.ts";
import { settle } from "../idempotency/settle.ts";
import { Problem } from "../problem/problem.ts";
import { canonicalJson } from "../shared/canonical-json.ts";
import type { FailpointTrigger } from "../shared/failpoints.ts";
import {
  hasAccess,
  lockRequest,
  markExpired,
  type RequestRow,
  type ResponseRow,
  readResponse,
  storeResponse,
} from "./queries.ts";
import { type Values, validValues } from "./values.ts";

export const OPERATION = "answerInputRequest";
/** An API key acts as its user, so the actor is always a human. */
const ACTOR_TYPE = "human";

interface AnswerServices {
  readonly sql: Sql;
  readonly baseUrl: string;
  readonly failpoint: FailpointTrigger;
}

interface Answer {
  readonly principal: Principal;
  readonly conversationId: string;
  readonly requestId: string;
  readonly values: Values;
}

export interface Answered {
  readonly request: RequestRow;
  readonly response: ResponseRow;
  readonly isDuplicate: boolean;
}

/** The result of a transaction that commits. A problem that must roll back is thrown instead. */
type Outcome = Answered | Problem;

function closed(status: string): Problem {
  return new Problem("input-request-closed", { detail: `The input request is ${status}.` });
}

function recovery(baseUrl: string, { conversationId }: Answer) {
  return {
    available: true,
    description: "The conversation shows the effects of the stored answer.",
    resource_url: `${baseUrl}/conversations/${conversationId}/tree`,
  };
}

function mismatch(baseUrl: string, answer: Answer): Problem {
  return payloadMismatch({
    operation: OPERATION,
    detail: "The input request was already answered with other values.",
    recovery: recovery(baseUrl, answer),
  });
}

/** The stored answer if it has the same values. `responseId` is the id of this attempt. */
async function storedAnswer(
  tx: Transaction,
  request: RequestRow,
  values: string,
  responseId: string,
): Promise<Answered | undefined> {
  const response = await readResponse(tx, request.id);
  if (response === undefined) throw closed(request.status);
  if (canonicalJson(response.values) !== canonicalJson(values)) return undefined;
  return { request, response, isDuplicate: response.id !== responseId };
}

/** One attempt in one transaction. Repeated after a lost connection, it finds its stored answer. */
async function attempt(
  tx: Transaction,
  { baseUrl, failpoint }: AnswerServices,
  answer: Answer,
  responseId: string,
): Promise<Outcome> {
  const { principal, conversationId, requestId } = answer;
  if (!(await hasAccess(tx, principal, conversationId)))
    throw new Problem("conversation-not-found");
  const request = await lockRequest(tx, conversationId, requestId);
  if (request === undefined) throw new Problem("input-request-not-found");
  failpoint("answer.locked");
  if (request.status === "open" && request.is_overdue) {
    await markExpired(tx, request.id);
    return closed("expired");
  }
  if (request.status === "cancelled" || request.status === "expired") return closed(request.status);
  const values = JSON.stringify(validValues(request.fields, answer.values));
  if (request.status === "submitted") {
    return (await storedAnswer(tx, request, values, responseId)) ?? mismatch(baseUrl, answer);
  }
  const { response, submittedAt } = await storeResponse(tx, request, {
    id: responseId,
    actorType: ACTOR_TYPE,
    actorId: principal.userId,
    values,
  });
  failpoint("answer.written");
  const submitted = { ...request, status: "submitted" as const, submitted_at: submittedAt };
  return { request: submitted, response, isDuplicate: false };
}

function translateError(error: unknown, answer: Answer, baseUrl: string): unknown {
  if (!isLockTimeout(error)) return error;
  return inProgress({
    operation: OPERATION,
    detail: "Another answer to this input request is still being stored.",
    recovery: recovery(baseUrl, answer),
    cause: error,
  });
}

/**
 * Answers an input request exactly once. A concurrent second answer waits for the first, then is a
 * duplicate or a conflict. Throws `conversation-not-found`, `input-request-not-found`,
 * `input-request-closed`, `validation-failed`, and `idempotency-conflict` in its three states.
 */
export async function answerRequest(services: AnswerServices, answer: Answer): Promise<Answered> {
  const { sql, baseUrl, failpoint } = services;
  const responseId = Bun.randomUUIDv7();
  failpoint("answer.received");
  try {
    const outcome = await settle(
      () => transaction(sql, (tx) => attempt(tx, services, answer, responseId)),
      {
        unknown: (cause) =>
          outcomeUnknown({
            operation: OPERATION,
            detail:
              "The database connection failed while the answer was stored. Its outcome is unknown.",
            recovery: {
              available: true,
              description: "Send the same answer again. It is stored exactly once.",
            },
            cause,
          }),
      },
    );
    failpoint("answer.committed");
    if (outcome instanceof Problem) throw outcome;
    return outcome;
  } catch (error) {
    throw translateError(error, answer, baseUrl);
  }
}

import type { Principal } from "../../auth/principal.ts";
import type { Queryable, Transaction } from "../../db/client.ts";
import { isLockTimeout } from "../../db/errors.ts";
import { inProgress, outcomeUnknown, payloadMismatch } from "../../db/idempotency/conflict.ts";
import { resolveOutcome } from "../../db/idempotency/resolve-outcome.ts";
import { type LeasedServices, withLease } from "../../db/idempotency/with-lease.ts";
import { transaction } from "../../db/transaction.ts";
import { abbreviate } from "../../domain/abbreviate.ts";
import { canonicalJson, canonicalValue } from "../../domain/json/canonical.ts";
import { isJsonNumber } from "../../domain/json/parse.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import type { FieldError } from "../../domain/problem/schema.ts";
import {
  hasAccess,
  lockRequest,
  markExpired,
  type RequestRow,
  type ResponseRow,
  readRequest,
  readResponse,
  storeResponse,
} from "./queries.ts";

type Values = Readonly<Record<string, unknown>>;

/** A field of an input request. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The allowed values; empty when every value is allowed. */
  readonly options: readonly unknown[];
}

/** An option is a plain value, or an object with a `value`. */
function optionValue(option: unknown): unknown {
  return typeof option === "object" && option !== null && "value" in option ? option.value : option;
}

/** Descriptions without a name are skipped, because no answer can refer to them. */
function fieldsOf(descriptions: readonly unknown[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const description of descriptions) {
    const { name, type, required, options } = (description ?? {}) as Record<string, unknown>;
    if (typeof name !== "string") continue;
    fields.set(name, {
      name,
      type: typeof type === "string" ? type : "",
      isRequired: required === true,
      options: Array.isArray(options) ? options.map(optionValue) : [],
    });
  }
  return fields;
}

/** Numbers are the same if they are equal, however they are written. */
function isSame(a: unknown, b: unknown): boolean {
  if (!isJsonNumber(a) || !isJsonNumber(b)) return a === b;
  return canonicalValue(a) === canonicalValue(b);
}

function isChoice({ options }: Field, value: unknown): boolean {
  return options.length === 0
    ? typeof value === "string"
    : options.some((each) => isSame(each, value));
}

/** The error of a field's value, or undefined. Fields of unknown types accept every value. */
function errorOf(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "text":
      return typeof value === "string" ? undefined : "must be text";
    case "number":
      return isJsonNumber(value) ? undefined : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "select":
      return isChoice(field, value) ? undefined : "must be one of the options";
    case "multiselect":
      return Array.isArray(value) && value.every((member) => isChoice(field, member))
        ? undefined
        : "must be an array of the options";
    default:
      return undefined;
  }
}

/**
 * The values of an answer, without nulls, which count as absent. Throws `validation-failed` naming
 * every unknown field, wrong value and missing required field.
 */
function validValues(descriptions: readonly unknown[], given: Values): Values {
  const fields = fieldsOf(descriptions);
  const answered = Object.entries(given).filter(([, value]) => value !== null);
  const errors: FieldError[] = [];
  for (const name of Object.keys(given)) {
    const message = "is not a field of this input request";
    if (!fields.has(name)) errors.push({ field: `values.${abbreviate(name)}`, message });
  }
  const values = new Map(answered);
  for (const field of fields.values()) {
    const value = values.get(field.name);
    const missing = field.isRequired ? "is required" : undefined;
    const message = value === undefined ? missing : errorOf(field, value);
    if (message !== undefined) errors.push({ field: `values.${abbreviate(field.name)}`, message });
  }
  if (errors.length > 0) throw invalid(errors);
  return Object.fromEntries(answered);
}

export const OPERATION = "answerInputRequest";
/** An API key acts as its user, so the actor is always a human. */
const ACTOR_TYPE = "human";
/** The id of an attempt that has stored no answer. */
const NOT_STORED = "";

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
  sql: Queryable,
  request: RequestRow,
  values: string,
  responseId: string,
): Promise<Answered | undefined> {
  const response = await readResponse(sql, request.id);
  if (response === undefined) throw closed(request.status);
  if (canonicalJson(response.values) !== canonicalJson(values)) return undefined;
  return { request, response, isDuplicate: response.id !== responseId };
}

/** The valid values of an answer to an open or answered request, as JSON. */
function valuesFor(request: RequestRow, { values }: Answer): string {
  if (request.status === "cancelled" || request.status === "expired") throw closed(request.status);
  return JSON.stringify(validValues(request.fields, values));
}

/** One attempt in one transaction. Repeated after a lost connection, it finds its stored answer. */
async function attempt(
  tx: Transaction,
  { baseUrl, failpoint }: LeasedServices,
  answer: Answer,
  responseId: string,
): Promise<Outcome> {
  const { principal, conversationId, requestId } = answer;
  await requireAccess(tx, answer);
  const request = await lockRequest(tx, conversationId, requestId);
  if (request === undefined) throw new Problem("input-request-not-found");
  failpoint("answer.locked");
  if (request.status === "open" && request.is_overdue) {
    await markExpired(tx, request.id);
    return closed("expired");
  }
  const values = valuesFor(request, answer);
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

async function requireAccess(sql: Queryable, { principal, conversationId }: Answer): Promise<void> {
  if (await hasAccess(sql, principal, conversationId)) return;
  throw new Problem("conversation-not-found");
}

/** Stores the answer, across failures of the database connection. */
async function store(services: LeasedServices, answer: Answer): Promise<Answered> {
  const { sql, failpoint } = services;
  const responseId = Bun.randomUUIDv7();
  failpoint("answer.leased");
  const outcome = await resolveOutcome(
    () => transaction(sql, (tx) => attempt(tx, services, answer, responseId)),
    { unknown },
  );
  failpoint("answer.committed");
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}

/** The reply to an attempt while another one has the lease. The other one may belong to a crashed process. */
async function whileBusy(
  { sql, baseUrl }: LeasedServices,
  answer: Answer,
  heldForMs: number,
): Promise<Answered> {
  const request = await readRequest(sql, answer.conversationId, answer.requestId);
  if (request === undefined) throw new Problem("input-request-not-found");
  const values = valuesFor(request, answer);
  if (request.status === "open") {
    throw stillRunning(baseUrl, answer, { expiresAt: new Date(Date.now() + heldForMs) });
  }
  const stored = await storedAnswer(sql, request, values, NOT_STORED);
  if (stored === undefined) throw mismatch(baseUrl, answer);
  return stored;
}

function stillRunning(
  baseUrl: string,
  answer: Answer,
  known: { readonly expiresAt?: Date; readonly cause?: unknown },
): Problem {
  return inProgress({
    operation: OPERATION,
    detail: "Another answer to this input request is still being stored.",
    recovery: recovery(baseUrl, answer),
    ...known,
  });
}

function unknown(cause: unknown): Problem {
  return outcomeUnknown({
    operation: OPERATION,
    detail: "The database connection failed while the answer was stored. Its outcome is unknown.",
    recovery: {
      available: true,
      description: "Send the same answer again. It is stored exactly once.",
    },
    cause,
  });
}

/**
 * Answers an input request exactly once. An answer that arrives while another is being stored is in
 * progress, a duplicate or a conflict. Throws `conversation-not-found`, `input-request-not-found`,
 * `input-request-closed`, `validation-failed`, and `idempotency-conflict` in its three states.
 */
export async function answerRequest(services: LeasedServices, answer: Answer): Promise<Answered> {
  const { sql, coordinator, baseUrl, failpoint } = services;
  const { conversationId, requestId } = answer;
  failpoint("answer.received");
  // Other users may neither take the lease, nor learn from it that the request exists.
  await requireAccess(sql, answer);
  try {
    const outcome = await withLease(coordinator, `answer:${conversationId}:${requestId}`, {
      work: () => store(services, answer),
      busy: (heldForMs) => whileBusy(services, answer, heldForMs),
    });
    failpoint("answer.released");
    return outcome;
  } catch (error) {
    // Without a coordinator, concurrent answers wait for the row.
    throw isLockTimeout(error) ? stillRunning(baseUrl, answer, { cause: error }) : error;
  }
}

import type { AuditLog } from "../audit/audit-log.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { requirePermission } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { AskedQuestion } from "../observability/question-counts.ts";
import { traceRequest } from "../observability/tracing.ts";
import { OVERLOADED, Problem } from "../problem/problem.ts";
import { type Validator, validator } from "../problem/validate.ts";
import { type Changes, isWrite, queryOf as querySchemaOf, setChange } from "./changes.ts";
import { requireClient } from "./client-presence.ts";
import { conditionalText } from "./conditional.ts";
import type { BodyIntake, Uptake } from "./load/body.ts";
import { isJsonType, mediaType, parseBody } from "./load/body.ts";
import type { Gates } from "./load/gates.ts";
import type { UnsentAnswers } from "./load/large-answers.ts";
import type { RateLimits } from "./load/rate-limit.ts";
import { type AnyJsonOperation, credentialOf, type Operation } from "./operation.ts";
import type { Refusals } from "./refusals.ts";
import { basePathOf, prefersHtml, requestIdOf } from "./request.ts";
import {
  type Note,
  type RecordContext,
  type RequestDetail,
  recordRequest,
} from "./request-record.ts";
import { json, NO_STORE, problemResponse } from "./respond.ts";

export interface HttpContext extends RecordContext {
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly gates: Gates;
  /** Reads the bodies of all requests but imports. */
  readonly bodies: BodyIntake;
  /** Large answers that are being sent. */
  readonly unsent: UnsentAnswers;
  readonly refusals: Refusals;
  /** Absent without a limit. */
  readonly rateLimits: RateLimits | undefined;
  readonly authenticator: Authenticator;
  /** Clears every cache of what callers have access to, for a change that this process has made. */
  forgetAccess(): void;
  readonly audit: AuditLog;
  readonly changes: Changes;
}

/** Answers a request to an operation, given the decoded parameters of its path. */
type Runner = (
  request: Request,
  pathParams: Record<string, string>,
) => Response | Promise<Response>;

function queryOf(request: Request): Record<string, string> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  return Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)));
}

interface Validators {
  readonly params: Validator<never> | undefined;
  readonly query: Validator<never> | undefined;
  readonly body: Validator<never> | undefined;
  readonly isWrite: boolean;
}

function validatorsOf(operation: Operation): Validators {
  const body = operation.kind === "json" ? operation.body : undefined;
  const query = querySchemaOf(operation);
  return {
    params: operation.params && (validator(operation.params) as Validator<never>),
    query: query && (validator(query) as Validator<never>),
    body: body && (validator(body, { stored: isWrite(operation) }) as Validator<never>),
    isWrite: isWrite(operation),
  };
}

/** The JSON of a body, with the numbers of its opaque members as they are written. */
function bodyOf(
  request: Request,
  bytes: Uint8Array,
  { body, bodyOptional }: Pick<AnyJsonOperation, "body" | "bodyOptional">,
): unknown {
  const type = mediaType(request);
  if (bodyOptional && bytes.byteLength === 0) return {};
  // Without type and body, the error below reports the missing body.
  if (!isJsonType(type) && !(type === "" && bytes.byteLength === 0)) {
    throw new Problem("unsupported-media-type", {
      detail: "This operation accepts application/json.",
      headers: { accept: "application/json" },
    });
  }
  return parseBody(bytes, body);
}

/** A request to an operation. */
interface Incoming {
  readonly operation: Operation;
  readonly validators: Validators;
  readonly context: HttpContext;
  readonly request: Request;
  readonly requestId: string;
  readonly basePath: string;
  readonly pathParams: Record<string, string>;
  /** The caller, once authenticated. */
  principal?: Principal;
  detail?: () => RequestDetail;
  asked?: AskedQuestion | undefined;
  /** The tenant whose place on the database it holds. */
  holder?: string;
  refused?: boolean;
}

/** Waits for the change that a read names; at once for one without, or that an index does not answer. */
async function waitForChange(call: Incoming, token: string | undefined): Promise<void> {
  if (token === undefined) return;
  const { operation, context, request, pathParams, principal } = call;
  const position = context.changes.positionOf(token);
  const { reads: read } = operation;
  if (read === undefined || principal === undefined) return;
  const reference = pathParams["project_reference"] as string;
  await context.changes.wait({ principal, reference, position, read, request });
}

const FILTER = Buffer.from('"filter"');

/** True unless the engine parses all of a body of its operation: this thread reads the filter of a search. */
function mayBeParsed(
  { operation }: Incoming,
  { buffer, byteOffset, byteLength }: Uint8Array,
): boolean {
  if (operation.kind === "json" || operation.sheds !== true) return true;
  return Buffer.from(buffer, byteOffset, byteLength).includes(FILTER);
}

/** Takes a place on the database until the request is answered, unless the engine's own queue follows. */
async function enter(call: Incoming, tenant: string): Promise<void> {
  if (call.operation.sheds === true) return;
  await call.context.gates.database.enter(tenant);
  call.holder = tenant;
}

/** The caller, once all that comes before reading the request has let it pass. */
async function admit(call: Incoming): Promise<Principal | undefined> {
  const { operation, context, request } = call;
  const { authenticator, gates, rateLimits } = context;
  const credential = credentialOf(operation);
  if (credential !== "bearer") {
    // All who need no credential count as one tenant.
    if (credential === "none") await gates.starts.enter("");
    return undefined;
  }
  const principal = await authenticator.authenticate(request.headers);
  call.principal = principal;
  const { userId: tenant } = principal;
  if (operation.sheds === true && gates.engine.refuses(tenant)) throw OVERLOADED;
  await gates.starts.enter(tenant);
  rateLimits?.take(principal);
  if (operation.permission !== null) requirePermission(principal, operation.permission);
  return principal;
}

/**
 * Processes a request in the order of this list, of which `admit` does the part before the parameters:
 *
 * 1. authenticate (401), which tells who pays for all that follows;
 * 2. gate (503): room in the engine's queue, and a start in a turn of the event loop;
 * 3. quota (429), after the gate so that a flood beyond the quota takes no more of a turn than any other;
 * 4. permission (403) and parameters (400);
 * 5. read (408, 413, 503), within a time and a share of the memory;
 * 6. wait for the change that the request names, then for a place on the database (503);
 * 7. validate (400, 415);
 * 8. handle;
 * 9. send, in `answer`: large answers within a share of the memory (503).
 */
async function perform(call: Incoming): Promise<Response> {
  const { operation, validators, context, request, requestId, basePath, pathParams } = call;
  if (operation.page !== undefined && prefersHtml(request.headers)) {
    return await operation.page({ request, basePath, params: pathParams });
  }
  const principal = await admit(call);
  const params = validators.params?.(pathParams) ?? {};
  const query: { readonly min_change?: string } = validators.query?.(queryOf(request)) ?? {};
  const { min_change: change } = query;
  const note: Note = (detail, asked) => Object.assign(call, { detail, asked });
  const isFresh = change !== undefined;
  const common = { request, requestId, basePath, params, query, note, isFresh };
  const take = async (tenant: string) => {
    await waitForChange(call, change);
    await enter(call, tenant);
  };
  const readBody = async (tenant = principal?.userId ?? "", admit?: Uptake["admit"]) => {
    const { maxBodyBytes: max } = context;
    const isParsedHere = (bytes: Uint8Array) => mayBeParsed(call, bytes);
    const uptake = admit === undefined ? { isParsedHere } : { admit };
    const bytes = await context.bodies.read(request, max, tenant, uptake);
    await take(tenant);
    return bytes;
  };
  if (operation.kind === "raw") return await operation.handle({ ...common, principal, readBody });
  const caller = principal as Principal;
  let body: unknown;
  if (validators.body === undefined) await take(caller.userId);
  else body = validators.body(bodyOf(request, await readBody(), operation));
  if (validators.isWrite) await requireClient(request);
  const result = await operation.handle({ ...common, principal: caller, body });
  if (operation.changesAccess) context.forgetAccess();
  if (result instanceof Response) return result;
  if (operation.response === undefined) return new Response(null, { status: 204 });
  if (operation.conditional) return conditionalText(request, JSON.stringify(result));
  return json(result, operation.status ?? 200);
}

/** Counts refusals for lack of capacity, and notes those for lack of a right in the audit log. */
function noteProblem(
  { slug, type, message: detail }: Problem,
  { operation: { id: operation }, principal, requestId, context }: Incoming,
): void {
  if (slug === "overloaded") context.metrics.overloaded.inc();
  if (type.status !== 401 && type.status !== 403) return;
  context.audit.denied({ principal, operation, slug, detail, requestId });
}

/**
 * The problem of a failed request. Those of callers who are not known share what one tenant may start: without a
 * valid credential, or to an unknown webhook.
 */
async function problemOf(
  error: unknown,
  { context: { gates }, principal }: Incoming,
): Promise<unknown> {
  const isUnknown = principal === undefined && error instanceof Problem;
  if (!isUnknown || (error.type.status !== 401 && error.type.status !== 404)) return error;
  try {
    await gates.starts.enter("");
    return error;
  } catch (overloaded) {
    return overloaded;
  }
}

/** Lets others do what the request has kept them from. */
function leave(call: Incoming): void {
  if (call.holder !== undefined) call.context.gates.database.leave(call.holder);
  delete call.holder;
}

/** Answers a request, and errors as problems. */
async function answer(call: Incoming): Promise<Response> {
  const { operation, validators, context, requestId } = call;
  try {
    const response = await perform(call);
    // What is refused is thrown.
    if (validators.isWrite) setChange(response.headers, await context.changes.token());
    response.headers.set("x-request-id", requestId);
    response.headers.set("x-content-type-options", "nosniff");
    context.unsent.hold(response, call.principal?.userId ?? "");
    return response;
  } catch (cause) {
    // A refusal may wait before it is sent, and keeps nobody waiting then.
    leave(call);
    const error = await problemOf(cause, call);
    const { baseUrl, log, refusals } = context;
    const extend = operation.kind === "raw" ? operation.extendProblem : undefined;
    if (error instanceof Problem) noteProblem(error, call);
    const respond = () =>
      problemResponse(error, { baseUrl, requestId, log, ...(extend ? { extend } : {}) });
    call.refused = error instanceof Problem && error.slug === "overloaded";
    if (!call.refused || extend !== undefined) return respond();
    const own = error === OVERLOADED ? undefined : respond;
    return await refusals.respond(requestId, call.request, call.principal?.userId, own);
  } finally {
    leave(call);
  }
}

/** Keeps caches from answering others with what one credential was shown. Answers with a tag say more themselves. */
function keepFromOthers(headers: Headers): void {
  headers.append("vary", "Authorization, X-API-Key");
  if (!headers.has("cache-control")) headers.set("cache-control", NO_STORE);
}

/** Runs an operation for a request, in a span of its own, and records duration and status. */
export function bindOperation(operation: Operation, context: HttpContext): Runner {
  const validators = validatorsOf(operation);
  const basePath = basePathOf(context.baseUrl);
  const { id, path: route } = operation;
  return (request, pathParams) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const call: Incoming = {
      ...{ operation, validators, context, request, requestId, basePath, pathParams },
    };
    return traceRequest({ request, requestId, operation: id, route }, async () => {
      const response = await answer(call);
      if (operation.page !== undefined) response.headers.append("vary", "Accept");
      if (credentialOf(operation) !== "none") keepFromOthers(response.headers);
      const milliseconds = performance.now() - startedAt;
      const { status } = response;
      const { principal, detail, asked, refused = false } = call;
      if (principal !== undefined) context.rateLimits?.describe(principal, response.headers);
      const { userId, keyId } = principal ?? {};
      const caller = { requestId, operation: id, userId, keyId };
      recordRequest(context, { ...caller, status, milliseconds, detail, asked, refused });
      return response;
    });
  };
}

import type { AuditLog } from "../audit/audit-log.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { requirePermission } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RequestScope } from "../observability/slow-requests.ts";
import { traceRequest } from "../observability/tracing.ts";
import { OVERLOADED, Problem } from "../problem/problem.ts";
import { type Validator, validator } from "../problem/validate.ts";
import { type Changes, isWrite, queryOf as querySchemaOf, setChange } from "./changes.ts";
import { requireClient } from "./client-presence.ts";
import { conditionalText } from "./conditional.ts";
import type { Admission } from "./load/admission.ts";
import type { BodyIntake } from "./load/body.ts";
import { isJsonType, mediaType, parseBody, requirePlainBody } from "./load/body.ts";
import type { UnsentAnswers } from "./load/large-answers.ts";
import type { RateLimits } from "./load/rate-limit.ts";
import { type AnyJsonOperation, type Operation, pageOf } from "./operation.ts";
import type { Refusals } from "./refusals.ts";
import { basePathOf, prefersHtml, requestIdOf } from "./request.ts";
import { type Note, type RequestDetail, recordRequest } from "./request-record.ts";
import { json, problemResponse } from "./respond.ts";

export interface HttpContext {
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly admission: Admission;
  readonly bodies: BodyIntake;
  readonly unsent: UnsentAnswers;
  readonly refusals: Refusals;
  /** Absent without a limit. */
  readonly rateLimits: RateLimits | undefined;
  readonly authenticator: Authenticator;
  /** Clears every cache of what callers have access to. */
  forgetAccess(): void;
  readonly audit: AuditLog;
  readonly changes: Changes;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly config: { readonly slowRequestMs: number };
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
  requirePlainBody(request);
  return parseBody(bytes, body);
}

/** A request to an operation. */
interface Incoming {
  readonly request: Request;
  readonly requestId: string;
  readonly basePath: string;
  readonly pathParams: Record<string, string>;
  /** The caller, once authenticated. */
  principal?: Principal;
  detail?: () => RequestDetail;
  scope?: RequestScope | undefined;
  /** Ends the admission of the request, once it is admitted. */
  leave?: () => void;
  refused?: boolean;
}

/** What waits for the change that a read names; undefined for one without, or that an index does not answer. */
function waitFor(
  { reads: read }: Operation,
  { changes }: HttpContext,
  { request, pathParams, principal }: Incoming,
  token: string | undefined,
): (() => Promise<void>) | undefined {
  if (token === undefined) return undefined;
  const position = changes.positionOf(token);
  if (read === undefined || principal === undefined) return undefined;
  const reference = pathParams["project_reference"] as string;
  return () => changes.wait({ principal, reference, position, read, request });
}

/**
 * Processes a request in a fixed order: credential, start in a turn of the event loop, rate limit, permission,
 * parameters, body, admission, handler.
 */
async function perform(
  operation: Operation,
  validators: Validators,
  context: HttpContext,
  call: Incoming,
): Promise<Response> {
  const { request, requestId, basePath, pathParams } = call;
  const page = pageOf(operation);
  if (page !== undefined && prefersHtml(request.headers)) {
    return page({ request, basePath, params: pathParams });
  }
  const needsPrincipal = operation.kind === "json" || operation.credential === "bearer";
  const authenticated = needsPrincipal
    ? context.authenticator.authenticate(request.headers)
    : undefined;
  // Cached credentials stay synchronous, which keeps the hot path free of promises.
  const principal = authenticated instanceof Promise ? await authenticated : authenticated;
  if (principal !== undefined) {
    call.principal = principal;
    const start = context.admission.start(principal.userId);
    if (start !== undefined) await start;
    context.rateLimits?.take(principal);
  }
  if (operation.permission !== null && principal !== undefined) {
    requirePermission(principal, operation.permission);
  }
  const params = validators.params?.(pathParams) ?? {};
  const query: { readonly min_change?: string } = validators.query?.(queryOf(request)) ?? {};
  const waiting = waitFor(operation, context, call, query.min_change);
  const note: Note = (detail, scope) => {
    call.detail = detail;
    call.scope = scope;
  };
  const common = {
    request,
    requestId,
    basePath,
    params,
    query,
    note,
    isFresh: query.min_change !== undefined,
  };
  const admit = async (tenant: string) => {
    // Who waits has no place yet.
    await waiting?.();
    const entered = context.admission.enter(tenant, operation.sheds === true);
    call.leave = entered instanceof Promise ? await entered : entered;
  };
  const readBody = async (tenant = principal?.userId ?? "") => {
    const bytes = await context.bodies.read(request, context.maxBodyBytes, tenant);
    await admit(tenant);
    return bytes;
  };
  if (operation.kind === "raw") return await operation.handle({ ...common, principal, readBody });
  let body: unknown;
  if (validators.body === undefined) {
    await admit((principal as Principal).userId);
  } else {
    body = validators.body(bodyOf(request, await readBody(), operation));
  }
  if (validators.isWrite) await requireClient(request);
  const result = await operation.handle({ ...common, principal: principal as Principal, body });
  if (operation.changesAccess) context.forgetAccess();
  if (result instanceof Response) return result;
  if (operation.response === undefined) return new Response(null, { status: 204 });
  if (operation.conditional) return conditionalText(request, JSON.stringify(result));
  return json(result, operation.status ?? 200);
}

/** Counts refusals for lack of capacity, and notes those for lack of a right in the audit log. */
function noteProblem(
  { slug, type, message: detail }: Problem,
  { id: operation }: Operation,
  { principal, requestId }: Incoming,
  { metrics, audit }: HttpContext,
): void {
  if (slug === "overloaded") metrics.overloaded.inc();
  if (type.status !== 401 && type.status !== 403) return;
  audit.denied({ principal, operation, slug, detail, requestId });
}

/** The problem of a failed request. Those without a valid credential share what one tenant may start. */
async function problemOf(error: unknown, { admission }: HttpContext): Promise<unknown> {
  if (!(error instanceof Problem) || error.type.status !== 401) return error;
  try {
    await admission.start("");
    return error;
  } catch (overloaded) {
    return overloaded;
  }
}

/** Answers a request, and errors as problems. */
async function answer(
  operation: Operation,
  validators: Validators,
  context: HttpContext,
  call: Incoming,
): Promise<Response> {
  const { requestId } = call;
  try {
    const response = await perform(operation, validators, context, call);
    if (validators.isWrite && response.ok)
      setChange(response.headers, await context.changes.token());
    context.unsent.hold(response, call.principal?.userId ?? "");
    response.headers.set("x-request-id", requestId);
    response.headers.set("x-content-type-options", "nosniff");
    return response;
  } catch (cause) {
    const error = await problemOf(cause, context);
    const { baseUrl, log } = context;
    const extend = operation.kind === "raw" ? operation.extendProblem : undefined;
    if (error instanceof Problem) noteProblem(error, operation, call, context);
    call.refused = error === OVERLOADED;
    if (call.refused && extend === undefined) {
      return await context.refusals.respond(requestId, call.request);
    }
    return problemResponse(error, { baseUrl, requestId, log, ...(extend ? { extend } : {}) });
  } finally {
    call.leave?.();
  }
}

/**
 * Refuses a request to the engine before it is read, if its tenant has filled the queue; undefined
 * otherwise. A search that is refused after its body was read costs two to three times as much, and under
 * overload most of the work is refusing. A refusal reveals nothing, so it is enough that the credential
 * was valid when it was last looked up: in turns of the event loop that last longer than credentials are
 * cached, all of them would have to be looked up again. A request with an unknown one is not refused here.
 */
function shed(
  { id: operation, sheds }: Operation,
  context: HttpContext,
  request: Request,
): Response | Promise<Response> | undefined {
  const { admission, authenticator, metrics, refusals } = context;
  if (sheds !== true || !admission.isShedding) return undefined;
  const userId = authenticator.knownUser(request.headers);
  if (userId === undefined || !admission.sheds(userId)) return undefined;
  metrics.overloaded.inc();
  const requestId = requestIdOf(request);
  const { status } = OVERLOADED.type;
  recordRequest(context, { requestId, operation, status, milliseconds: 0, userId, refused: true });
  return refusals.respond(requestId, request);
}

/** Runs an operation for a request, in a span of its own, and records duration and status. */
export function bindOperation(operation: Operation, context: HttpContext): Runner {
  const validators = validatorsOf(operation);
  const basePath = basePathOf(context.baseUrl);
  const { id, path: route } = operation;
  return (request, pathParams) => {
    const refusal = shed(operation, context, request);
    if (refusal !== undefined) return refusal;
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const call: Incoming = { request, requestId, basePath, pathParams };
    return traceRequest({ request, requestId, operation: id, route }, async () => {
      const response = await answer(operation, validators, context, call);
      if (pageOf(operation) !== undefined) response.headers.set("vary", "Accept");
      const milliseconds = performance.now() - startedAt;
      const { status } = response;
      const { principal, detail, scope, refused = false } = call;
      if (principal !== undefined) context.rateLimits?.describe(principal, response.headers);
      const { userId, keyId } = principal ?? {};
      const caller = { requestId, operation: id, userId, keyId };
      recordRequest(context, { ...caller, status, milliseconds, detail, scope, refused });
      return response;
    });
  };
}

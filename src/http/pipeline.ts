import type { AuditLog } from "../auth/audit/audit-log.ts";
import { type Authenticator, requirePermission } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import { OVERLOADED, Problem } from "../domain/problem/problem.ts";
import { type Validator, validator } from "../domain/problem/validate.ts";
import type { AskedQuestion } from "../ops/observability/question-counts.ts";
import { traceRequest } from "../ops/observability/tracing.ts";
import type { Release } from "../ops/tenants/fair-semaphore.ts";
import { jsonOf } from "./json-body.ts";
import type { BodyReader } from "./load/body.ts";
import type { Gates } from "./load/gates.ts";
import { holdUntilSent } from "./load/large-answers.ts";
import type { RateLimits } from "./load/rate-limit.ts";
import { CHANGE, type Changes, isWrite, queryOf as querySchemaOf } from "./min-change.ts";
import type { Operation } from "./operation.ts";
import type { RejectionThrottle } from "./rejection-throttle.ts";
import { basePathOf, prefersHtml, requestIdOf } from "./request.ts";
import {
  type Note,
  type RecordContext,
  type RequestDetail,
  recordRequest,
} from "./request-record.ts";
import { conditionalText, json, NO_STORE, problemResponse } from "./respond.ts";

/** The services that requests to all operations share. */
export interface HttpContext extends RecordContext {
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly gates: Gates;
  /** Reads the bodies of all requests but imports. */
  readonly bodies: BodyReader;
  readonly refusals: RejectionThrottle;
  /** Absent without a limit. */
  readonly rateLimits: RateLimits | undefined;
  readonly authenticator: Authenticator;
  /** Clears every cache of access rights, after a change by this process. */
  forgetAccess(): void;
  readonly audit: AuditLog;
  readonly changes: Changes;
}

/** The argument of an operation's functions, before its target is found and its body is read. */
type Common = Parameters<NonNullable<Operation["find"]>>[0];

/** A request to an operation. */
interface Incoming {
  readonly operation: Operation;
  readonly validators: ReturnType<typeof validatorsOf>;
  readonly context: HttpContext;
  readonly request: Request;
  readonly requestId: string;
  readonly basePath: string;
  readonly pathParams: Record<string, string>;
  /** The caller, once authenticated. */
  principal?: Principal;
  detail?: () => RequestDetail;
  asked?: AskedQuestion | undefined;
  /** Releases its permit of the database. */
  leaveDatabase: Release;
  /** Releases the permits that the operation has acquired for the request. The handler may call it first. */
  release: Release;
  hasFailed?: boolean;
  /** True for a refusal as overloaded. */
  refused?: boolean;
}

function queryOf(request: Request): Record<string, string> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  return Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)));
}

/** The checks of an operation's parameters and body. */
export function validatorsOf(operation: Operation) {
  const { params, body } = operation;
  const query = querySchemaOf(operation);
  const stored = isWrite(operation);
  return {
    params: params && (validator(params) as Validator<never>),
    query: query && (validator(query) as Validator<never>),
    body: body && (validator(body, { stored }) as Validator<never>),
    isWrite: stored,
  };
}

const NO_BYTES = new Uint8Array();
const NOTHING = () => {};

/** Acquires a permit of the database until the request is answered, unless a queue of the operation's own follows. */
async function acquireDatabase(call: Incoming, tenant: string): Promise<void> {
  const { operation, context } = call;
  if (operation.sheddable || operation.streams || operation.credential === "none") return;
  call.leaveDatabase = await context.gates.database.lease(tenant);
}

/** The caller, once all that comes before reading the request has let it pass. */
async function admit(call: Incoming): Promise<Principal | undefined> {
  const { operation, context, request } = call;
  const { authenticator, gates, rateLimits } = context;
  if (operation.credential !== undefined) {
    // All who need no credential count as one tenant.
    if (operation.credential === "none") await gates.starts.acquire("");
    return undefined;
  }
  const principal = await authenticator.authenticate(request.headers);
  call.principal = principal;
  const { userId: tenant } = principal;
  if (operation.sheddable === true && gates.engine.refuses(tenant)) throw OVERLOADED;
  await gates.starts.acquire(tenant);
  rateLimits?.take(principal);
  if (operation.permission !== null) requirePermission(principal, operation.permission);
  return principal;
}

/** Reads a body of an operation that has one, and waits until it may be handled. */
async function read(call: Incoming, common: Common, tenant: string): Promise<Uint8Array> {
  const { operation, context, request } = call;
  const { admit, body, bodies, streams, isParsedHere, tooLargeRemedy } = operation;
  if (streams || (body === undefined && bodies === undefined)) return NO_BYTES;
  const admitted = async (bytes: number) => {
    const release = await (admit as NonNullable<typeof admit>)(common, bytes);
    // The body may have been refused meanwhile, for the space that it takes.
    if (call.hasFailed) release();
    else call.release = release;
  };
  return await context.bodies.read(request, context.maxBodyBytes, tenant, {
    isParsedHere,
    tooLargeRemedy,
    admit: admit && admitted,
  });
}

/**
 * Processes a request in the order of this list, of which `admit` does the part before the parameters:
 *
 * 1. authenticate (401), which tells who pays for all that follows;
 * 2. gate (503): room in the engine's queue, and a start in a turn of the event loop;
 * 3. quota (429), after the gate so that a flood beyond the quota takes no more of a turn than any other;
 * 4. permission (403) and parameters (400);
 * 5. find the target of the path (404), in operations that do so before they read;
 * 6. read (408, 413, 503), within a time and a share of the memory;
 * 7. wait for the change that the request names, then for a place on the database (503);
 * 8. validate (400, 415);
 * 9. handle;
 * 10. send, in `answer`: large answers within a share of the memory (503).
 */
async function perform(call: Incoming): Promise<Response> {
  const { operation, validators, context, request, requestId, basePath, pathParams } = call;
  if (operation.page !== undefined && prefersHtml(request.headers)) {
    return await operation.page({ request, basePath, params: pathParams });
  }
  const principal = (await admit(call)) as Principal;
  const params = validators.params?.(pathParams) ?? {};
  const query: { readonly min_change?: string } = validators.query?.(queryOf(request)) ?? {};
  const { min_change: token } = query;
  const note: Note = (detail, asked) => Object.assign(call, { detail, asked });
  const readYourWrites = token !== undefined;
  const common = { request, requestId, basePath, params, query, principal, note, readYourWrites };
  const found = await operation.find?.(common);
  const tenant = operation.tenantOf?.(found) ?? principal?.userId ?? "";
  const bytes = await read(call, common, tenant);
  if (token !== undefined) {
    const reference = pathParams["project_reference"] as string;
    const { reads } = operation;
    await context.changes.wait({ principal, reference, token, reads, request });
  }
  await acquireDatabase(call, tenant);
  const { body: validate } = validators;
  const body = validate === undefined ? bytes : validate(jsonOf(request, bytes, operation));
  if (validators.isWrite && !operation.streams) await requireClient(request);
  const result = await operation.handle({ ...common, body, found, release: call.release });
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
 * The problem of a failed request. Requests of unknown callers share the starts of one tenant: without a
 * valid credential, or to an unknown webhook.
 */
async function problemOf(
  error: unknown,
  { context: { gates }, principal }: Incoming,
): Promise<unknown> {
  const isUnknown = principal === undefined && error instanceof Problem;
  if (!isUnknown || (error.type.status !== 401 && error.type.status !== 404)) return error;
  try {
    await gates.starts.acquire("");
    return error;
  } catch (overloaded) {
    return overloaded;
  }
}

/** Answers a request, and errors as problems. */
async function answer(call: Incoming): Promise<Response> {
  const { operation, validators, context, request, requestId } = call;
  try {
    const response = await perform(call);
    // A refused request has thrown before.
    const token = validators.isWrite ? await context.changes.token() : undefined;
    if (token !== undefined) response.headers.set(CHANGE, token);
    response.headers.set("x-request-id", requestId);
    response.headers.set("x-content-type-options", "nosniff");
    holdUntilSent(response, call.principal?.userId ?? "", context);
    return response;
  } catch (cause) {
    // A refusal may wait before it is sent, and keeps nobody waiting then.
    call.leaveDatabase();
    call.hasFailed = true;
    call.release();
    const error = await problemOf(cause, call);
    if (error instanceof Problem) noteProblem(error, call);
    call.refused = error instanceof Problem && error.slug === "overloaded";
    if (call.refused) await context.refusals.pace(request, call.principal?.userId);
    const { baseUrl, log } = context;
    return problemResponse(error, { baseUrl, requestId, log, extend: operation.extendProblem });
  } finally {
    call.leaveDatabase();
  }
}

/** Keeps caches from sharing an answer between credentials. Answers with a tag have headers of their own. */
function keepFromOthers(headers: Headers): void {
  headers.append("vary", "Authorization, X-API-Key");
  if (!headers.has("cache-control")) headers.set("cache-control", NO_STORE);
}

/**
 * Answers requests to an operation, given the decoded parameters of their paths, each in a span of its own. Records
 * duration and status.
 */
export function bindOperation(operation: Operation, context: HttpContext) {
  const validators = validatorsOf(operation);
  const basePath = basePathOf(context.baseUrl);
  const { id, path: route } = operation;
  return (request: Request, pathParams: Record<string, string>): Promise<Response> => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    const call: Incoming = {
      operation,
      validators,
      context,
      request,
      requestId,
      basePath,
      pathParams,
      leaveDatabase: NOTHING,
      release: NOTHING,
    };
    return traceRequest({ request, requestId, operation: id, route }, async () => {
      const response = await answer(call);
      if (operation.page !== undefined) response.headers.append("vary", "Accept");
      if (operation.credential !== "none") keepFromOthers(response.headers);
      const milliseconds = performance.now() - startedAt;
      if (call.principal !== undefined) {
        context.rateLimits?.describe(call.principal, response.headers);
      }
      recordRequest(context, call, { status: response.status, milliseconds });
      return response;
    });
  };
}

/**
 * Resolves in the next turn of the event loop, and throws when the client has gone away by then. Bun
 * closes a connection on which a second request arrives before the first is answered. Both usually
 * arrive together, so waiting a turn before a change is made keeps a change that could not be
 * answered from being made at all.
 */
async function requireClient(request: Request): Promise<void> {
  const { signal } = request;
  await new Promise((resolve) => setImmediate(resolve));
  if (!signal.aborted) return;
  throw new Problem("validation-failed", { detail: "The client has closed the connection." });
}

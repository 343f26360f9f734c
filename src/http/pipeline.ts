import { requirePermission } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import { OVERLOADED, Problem } from "../domain/problem/problem.ts";
import { type Validator, validator } from "../domain/problem/validate.ts";
import { traceRequest } from "../ops/observability/tracing.ts";
import { conditionalText } from "./conditional.ts";
import type { Common, HttpContext, Incoming, Validators } from "./incoming.ts";
import { jsonOf } from "./json-body.ts";
import { holdUntilSent } from "./load/large-answers.ts";
import { isWrite, queryOf as querySchemaOf, setChange } from "./min-change.ts";
import { credentialOf, type Operation } from "./operation.ts";
import { basePathOf, prefersHtml, requestIdOf } from "./request.ts";
import { type Note, recordRequest } from "./request-record.ts";
import { json, NO_STORE, problemResponse } from "./respond.ts";

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

/** The checks of an operation's parameters and body. */
export function validatorsOf(operation: Operation): Validators {
  const { body } = operation;
  const query = querySchemaOf(operation);
  return {
    params: operation.params && (validator(operation.params) as Validator<never>),
    query: query && (validator(query) as Validator<never>),
    body: body && (validator(body, { stored: isWrite(operation) }) as Validator<never>),
    isWrite: isWrite(operation),
  };
}

const NO_BYTES = new Uint8Array();
const NOTHING = () => {};

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

/** Acquires a permit of the database until the request is answered, unless a queue of the operation's own follows. */
async function acquireDatabase(call: Incoming, tenant: string): Promise<void> {
  const { operation, context } = call;
  if (operation.sheddable || operation.streams || credentialOf(operation) === "none") return;
  await context.gates.database.acquire(tenant);
  call.holder = tenant;
}

/** The caller, once all that comes before reading the request has let it pass. */
async function admit(call: Incoming): Promise<Principal | undefined> {
  const { operation, context, request } = call;
  const { authenticator, gates, rateLimits } = context;
  const credential = credentialOf(operation);
  if (credential !== "bearer") {
    // All who need no credential count as one tenant.
    if (credential === "none") await gates.starts.acquire("");
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
  const admission = {
    ...(isParsedHere && { isParsedHere }),
    ...(admit && {
      async admit(bytes: number) {
        const release = await admit(common, bytes);
        // The body may have been refused meanwhile, for the space that it takes.
        if (call.hasFailed) release();
        else call.release = release;
      },
    }),
  };
  try {
    return await context.bodies.read(request, context.maxBodyBytes, tenant, admission);
  } catch (error) {
    const isTooLarge = error instanceof Problem && error.slug === "payload-too-large";
    if (!isTooLarge || tooLargeRemedy === undefined) throw error;
    const detail = `${error.message} ${tooLargeRemedy}`;
    throw new Problem(error.slug, { ...error.options, detail });
  }
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
  const { min_change: change } = query;
  const note: Note = (detail, asked) => Object.assign(call, { detail, asked });
  const readYourWrites = change !== undefined;
  const common = { request, requestId, basePath, params, query, principal, note, readYourWrites };
  const finding = operation.find?.(common);
  const found = finding instanceof Promise ? await finding : finding;
  const tenant = operation.tenantOf?.(found) ?? principal?.userId ?? "";
  const bytes = await read(call, common, tenant);
  await waitForChange(call, change);
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

/** Releases the request's permit of the database. */
function releaseDatabase(call: Incoming): void {
  if (call.holder !== undefined) call.context.gates.database.release(call.holder);
  delete call.holder;
}

/** Answers a request, and errors as problems. */
async function answer(call: Incoming): Promise<Response> {
  const { operation, validators, context, requestId } = call;
  try {
    const response = await perform(call);
    // A refused request has thrown before.
    if (validators.isWrite) setChange(response.headers, await context.changes.token());
    response.headers.set("x-request-id", requestId);
    response.headers.set("x-content-type-options", "nosniff");
    holdUntilSent(response, call.principal?.userId ?? "", context.gates, context.log);
    return response;
  } catch (cause) {
    // A refusal may wait before it is sent, and keeps nobody waiting then.
    releaseDatabase(call);
    call.hasFailed = true;
    call.release();
    const error = await problemOf(cause, call);
    const { baseUrl, log, refusals } = context;
    const { extendProblem: extend } = operation;
    if (error instanceof Problem) noteProblem(error, call);
    const respond = () => problemResponse(error, { baseUrl, requestId, log, extend });
    call.refused = error instanceof Problem && error.slug === "overloaded";
    if (!call.refused || extend !== undefined) return respond();
    const own = error === OVERLOADED ? undefined : respond;
    return await refusals.respond(requestId, call.request, call.principal?.userId, own);
  } finally {
    releaseDatabase(call);
  }
}

/** Keeps caches from sharing an answer between credentials. Answers with a tag have headers of their own. */
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
      operation,
      validators,
      context,
      request,
      requestId,
      basePath,
      pathParams,
      release: NOTHING,
    };
    return traceRequest({ request, requestId, operation: id, route }, async () => {
      const response = await answer(call);
      if (operation.page !== undefined) response.headers.append("vary", "Accept");
      if (credentialOf(operation) !== "none") keepFromOthers(response.headers);
      const milliseconds = performance.now() - startedAt;
      const { principal, detail, asked, refused } = call;
      if (principal !== undefined) context.rateLimits?.describe(principal, response.headers);
      recordRequest(context, {
        requestId,
        operation: id,
        status: response.status,
        milliseconds,
        userId: principal?.userId,
        keyId: principal?.keyId,
        detail,
        asked,
        refused,
      });
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

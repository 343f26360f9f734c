import type { Authenticator } from "../auth/authenticator.ts";
import { requirePermission } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { Problem } from "../problem/problem.ts";
import { type Validator, validator } from "../problem/validate.ts";
import { isJsonType, mediaType, parseJson, readBody, requirePlainBody } from "./body.ts";
import { conditionalJson } from "./conditional.ts";
import type { Operation } from "./operation.ts";
import { json, problemResponse } from "./respond.ts";

export interface HttpContext {
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly authenticator: Authenticator;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A request on its way to an operation, with the path's parameters already decoded. */
export type Runner = (
  request: Request,
  pathParams: Record<string, string>,
) => Response | Promise<Response>;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's own request id where it is harmless, else a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

function queryOf(request: Request): Record<string, string> {
  const start = request.url.indexOf("?");
  if (start < 0) return {};
  return Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)));
}

interface Validators {
  readonly params: Validator<never> | undefined;
  readonly query: Validator<never> | undefined;
  readonly body: Validator<never> | undefined;
}

function validatorsOf(operation: Operation): Validators {
  const body = operation.kind === "json" ? operation.body : undefined;
  return {
    params: operation.params && (validator(operation.params) as Validator<never>),
    query: operation.query && (validator(operation.query) as Validator<never>),
    body: body && (validator(body) as Validator<never>),
  };
}

async function jsonBody(request: Request, context: HttpContext): Promise<unknown> {
  const type = mediaType(request);
  const bytes = await readBody(request, context.maxBodyBytes);
  // Without a body there is no type to complain about; its absence is the better message.
  if (!isJsonType(type) && !(type === "" && bytes.byteLength === 0)) {
    throw new Problem("unsupported-media-type", {
      detail: "This operation takes application/json.",
      headers: { accept: "application/json" },
    });
  }
  requirePlainBody(request);
  return parseJson(bytes);
}

/** Credential, permission, parameters, body, handler: the one order in which a request is judged. */
async function perform(
  operation: Operation,
  validators: Validators,
  context: HttpContext,
  call: { request: Request; requestId: string; pathParams: Record<string, string> },
): Promise<Response> {
  const { request, requestId, pathParams } = call;
  const needsPrincipal = operation.kind === "json" || operation.credential === "bearer";
  const authenticated = needsPrincipal
    ? context.authenticator.authenticate(request.headers)
    : undefined;
  // Awaiting only real promises keeps the hot path of remembered credentials synchronous.
  const principal = authenticated instanceof Promise ? await authenticated : authenticated;
  if (operation.permission !== null && principal !== undefined) {
    requirePermission(principal, operation.permission);
  }
  const params = validators.params?.(pathParams) ?? {};
  const query = validators.query?.(queryOf(request)) ?? {};
  if (operation.kind === "raw") {
    return await operation.handle({ request, requestId, params, query, principal });
  }
  const body = validators.body?.(await jsonBody(request, context));
  const known = principal as Principal;
  const result = await operation.handle({
    request,
    requestId,
    params,
    query,
    principal: known,
    body,
  });
  if (result instanceof Response) return result;
  if (operation.conditional) return conditionalJson(request, JSON.stringify(result));
  return json(result, operation.status ?? 200);
}

/** Binds an operation to its surroundings: what it throws becomes a problem, what it does is counted. */
export function bindOperation(operation: Operation, context: HttpContext): Runner {
  const validators = validatorsOf(operation);
  const extend = operation.kind === "raw" ? operation.extendProblem : undefined;
  return async (request, pathParams) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    let response: Response;
    try {
      response = await perform(operation, validators, context, { request, requestId, pathParams });
      response.headers.set("x-request-id", requestId);
    } catch (error) {
      const { baseUrl, log } = context;
      response = problemResponse(error, { baseUrl, requestId, log, ...(extend ? { extend } : {}) });
    }
    const seconds = (performance.now() - startedAt) / 1000;
    context.metrics.requests.observe({ operation: operation.id, status: response.status }, seconds);
    return response;
  };
}

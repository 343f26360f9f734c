import type { Elysia } from "elysia";
import { Problem } from "../problem/problem.ts";
import type { Operation } from "./operation.ts";
import { bindOperation, type HttpContext } from "./pipeline.ts";
import { requestIdOf, targetOf } from "./request.ts";
import { problemResponse } from "./respond.ts";

/**
 * The router requires the same parameter name in all routes with a parameter at one position, but
 * the API's names differ. So routes have names by position, which are translated back.
 */
function routePattern(path: string): { pattern: string; names: Map<string, string> } {
  const names = new Map<string, string>();
  const segments = path.split("/").map((segment, position) => {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) return segment;
    names.set(`p${position}`, name);
    return `:p${position}`;
  });
  return { pattern: segments.join("/"), names };
}

function paramsByName(
  names: Map<string, string>,
  given: Record<string, string>,
): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [position, name] of names) params[name] = given[position] ?? "";
  return params;
}

interface KnownRoute {
  readonly matcher: RegExp;
  readonly methods: readonly string[];
}

function knownRoute(operation: Operation): KnownRoute {
  const source = operation.path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
  const methods = operation.method === "GET" ? ["GET", "HEAD"] : [operation.method];
  // An operation that only answers 405 does not make its method an allowed one.
  if (operation.problems.includes("method-not-allowed")) methods.length = 0;
  return { matcher: new RegExp(`^${source}/?$`), methods };
}

/** The problem for a request without an operation: `method-not-allowed` or `route-not-found`. */
function routingProblem(routes: readonly KnownRoute[], path: string): Problem {
  const methods = routes
    .filter((route) => route.matcher.test(path))
    .flatMap((route) => route.methods);
  if (methods.length === 0) return new Problem("route-not-found");
  return new Problem("method-not-allowed", {
    headers: { allow: [...new Set(methods)].sort().join(", ") },
  });
}

/** Adds every operation to the application, and problems for all other paths and methods. */
export function mountOperations(
  app: Elysia,
  operations: readonly Operation[],
  context: HttpContext,
  otherPaths: readonly string[],
): Elysia {
  const routes = operations.map(knownRoute);
  for (const path of otherPaths) {
    routes.push({ matcher: new RegExp(`^${path}/?$`), methods: ["GET", "HEAD"] });
  }
  const unrouted = async (path: string) => {
    // Anybody can send these requests: all of them together count as one tenant.
    await context.gates.starts.enter("");
    return routingProblem(routes, path);
  };
  app.onError(async ({ code, error, request }) => {
    const { path } = targetOf(request.url);
    const problem = code === "NOT_FOUND" ? await unrouted(path).catch((full) => full) : error;
    return problemResponse(problem, { ...context, requestId: requestIdOf(request) });
  });
  for (const operation of operations) {
    const { pattern, names } = routePattern(operation.path);
    const run = bindOperation(operation, context);
    app.route(
      operation.method,
      pattern,
      ({ request, params }) => run(request, paramsByName(names, params)),
      { parse: "none" },
    );
  }
  return app;
}

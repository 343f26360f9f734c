import type { Elysia } from "elysia";
import { abbreviate } from "../domain/abbreviate.ts";
import { Problem } from "../domain/problem/problem.ts";
import type { HttpContext } from "./incoming.ts";
import { inTurns, type Turns } from "./load/large-answers.ts";
import type { Operation } from "./operation.ts";
import { bindOperation } from "./pipeline.ts";
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

function knownRoute(path: string, method: string): KnownRoute {
  const source = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
  const methods = method === "GET" ? ["GET", "HEAD"] : [method];
  return { matcher: new RegExp(`^${source}/?$`), methods };
}

/** All routes: the operations, and the paths that were mounted before them. */
function knownRoutes(app: Elysia, operations: readonly Operation[]): KnownRoute[] {
  const patterns = new Set(operations.map(({ path }) => routePattern(path).pattern));
  const others = app.routes.filter(({ path }) => !patterns.has(path));
  // An operation that only answers 405 does not make its method an allowed one.
  const answering = operations.filter(({ problems }) => !problems.includes("method-not-allowed"));
  return [...answering, ...others].map(({ path, method }) => knownRoute(path, method));
}

/** The remedy for a path of a file whose slashes are not encoded. */
function slashHint(path: string): { readonly detail?: string } {
  const [, route, file = ""] = /^(\/projects\/[^/]+\/files\/)(.+)$/.exec(path) ?? [];
  if (route === undefined) return {};
  const encoded = abbreviate(file.replaceAll("/", "%2F"));
  return {
    detail: `No operation has this path. The path of a file is one segment: write its slashes as %2F, as in ${abbreviate(route)}${encoded}.`,
  };
}

/** The problem for a request without an operation: `method-not-allowed` or `route-not-found`. */
function routingProblem(routes: readonly KnownRoute[], path: string): Problem {
  const methods = routes
    .filter((route) => route.matcher.test(path))
    .flatMap((route) => route.methods);
  if (methods.length === 0) return new Problem("route-not-found", slashHint(path));
  return new Problem("method-not-allowed", {
    headers: { allow: [...new Set(methods)].sort().join(", ") },
  });
}

/**
 * Answers the errors of all routes with problems, and requests without a route, too. The router applies this to
 * routes that are mounted later only.
 */
export function answerProblems(
  app: Elysia,
  operations: readonly Operation[],
  context: HttpContext,
): void {
  let routes: KnownRoute[] | undefined;
  const unrouted = async (path: string) => {
    // Anybody can send these requests: all of them together count as one tenant.
    await context.gates.starts.acquire("");
    routes ??= knownRoutes(app, operations);
    return routingProblem(routes, path);
  };
  app.onError(async ({ code, error, request }) => {
    const { path } = targetOf(request.url);
    const problem = code === "NOT_FOUND" ? await unrouted(path).catch((full) => full) : error;
    return problemResponse(problem, { ...context, requestId: requestIdOf(request) });
  });
}

/** Serves a path without a credential, outside the operations. */
export type MountPage = (
  path: string,
  answer: (request: Request) => Response | Promise<Response>,
) => void;

/** Mounts pages whose requests start, and whose large answers are sent, in these turns of the event loop. */
export function pageMounter(app: Elysia, turns: Turns): MountPage {
  return (path, answer) => {
    app.get(path, async ({ request }) => {
      await turns.start();
      return inTurns(await answer(request), turns);
    });
  };
}

/** Adds every operation to the application. */
export function mountOperations(
  app: Elysia,
  operations: readonly Operation[],
  context: HttpContext,
): void {
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
}

import type { Elysia } from "elysia";
import { abbreviate } from "../domain/abbreviate.ts";
import { invalid, Problem } from "../domain/problem/problem.ts";
import { holdUntilSent } from "./load/large-answers.ts";
import type { Operation } from "./operation.ts";
import { bindOperation, type HttpContext } from "./pipeline.ts";
import { type Handler, pathStart, requestIdOf, targetOf } from "./request.ts";
import { problemResponse } from "./respond.ts";

/**
 * The router requires the same parameter name in all routes with a parameter at one position, but the API's names differ.
 * So routes have names by position, which are translated back.
 */
const patternOf = (path: string) => {
  const nameAt = (segment: string, position: number) =>
    segment.replace(/^\{.+\}$/, `:p${position}`);
  return path.split("/").map(nameAt).join("/");
};

/** The parameters of a path by their names, of those by position. */
function paramsByName(path: string, given: Record<string, string>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [position, segment] of path.split("/").entries()) {
    if (segment.startsWith("{")) params[segment.slice(1, -1)] = given[`p${position}`] ?? "";
  }
  return params;
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

/** Answers the errors of all routes with problems, and requests without a route, too. */
export function answerProblems(app: Elysia, context: HttpContext): void {
  const unrouted = async (path: string) => {
    await startOfAnybody(context);
    return new Problem("route-not-found", slashHint(path));
  };
  app.onError(async ({ code, error, request }) => {
    const { path } = targetOf(request.url);
    const problem = code === "NOT_FOUND" ? await unrouted(path).catch((full) => full) : error;
    return problemResponse(problem, { ...context, requestId: requestIdOf(request) });
  });
}

/** Anybody can send requests without an operation: all of them together count as one tenant. */
async function startOfAnybody({ gates }: HttpContext): Promise<void> {
  await gates.starts.acquire("");
}

/** Answers other methods than these of a path with 405. The router prefers the routes of methods. */
function refuseOthers(
  app: Elysia,
  pattern: string,
  methods: readonly string[],
  context: HttpContext,
): void {
  const answered = methods.includes("GET") ? [...methods, "HEAD"] : [...methods];
  const headers = { allow: answered.sort().join(", ") };
  app.all(pattern, async () => {
    await startOfAnybody(context);
    throw new Problem("method-not-allowed", { headers });
  });
}

/** Serves a path without a credential, outside the operations. */
export type MountPage = (
  path: string,
  answer: (request: Request) => Response | Promise<Response>,
) => void;

/** Mounts pages that are answered whatever else is asked for. */
export function probeMounter(app: Elysia, context: HttpContext): MountPage {
  return (path, answer) => {
    app.get(path, ({ request }) => answer(request));
    refuseOthers(app, path, ["GET"], context);
  };
}

/** Mounts pages whose requests count together as those of one tenant. */
export function pageMounter(app: Elysia, context: HttpContext): MountPage {
  const mount = probeMounter(app, context);
  return (path, answer) =>
    mount(path, async (request) => {
      await startOfAnybody(context);
      const response = await answer(request);
      holdUntilSent(response, "", context);
      return response;
    });
}

/** Adds every operation to the application. */
export function mountOperations(
  app: Elysia,
  operations: readonly Operation[],
  context: HttpContext,
): void {
  for (const operation of operations) {
    const { method, path } = operation;
    const run = bindOperation(operation, context);
    app.route(
      method,
      patternOf(path),
      ({ request, params }) => run(request, paramsByName(path, params)),
      { parse: "none" },
    );
  }
  // An operation that only answers 405 does not make its method an allowed one.
  const answering = operations.filter(({ problems }) => !problems.includes("method-not-allowed"));
  for (const [path, ofPath] of Map.groupBy(answering, (operation) => operation.path)) {
    const methods = ofPath.map(({ method }) => method);
    refuseOthers(app, patternOf(path), methods, context);
  }
}

/** A name or an address with an optional port. Clients may send an empty host. */
const HOST = /^(?:[\w.~-]+|\[[\da-fA-F:.]+\])?(?::\d{1,5})?$/;

/** Elysia searches a request's URL for the path from this position on. */
const PATH_SEARCH_START = "http://host".length;

/**
 * Gives the request a URL that Elysia can parse. Without a Host header the URL is the path alone,
 * and with a very short host Elysia would not find the path. No answer depends on the host. The
 * property hides that of the class, because a copy of the request would read its body twice.
 */
function ensureParsableUrl(request: Request, path: number): void {
  const { url } = request;
  if (path >= PATH_SEARCH_START) return;
  Object.defineProperty(request, "url", { value: `http://localhost${url.slice(path)}` });
}

/**
 * Throws problems for requests with a malformed Host header, and makes the URL of the others parsable. A path with two
 * slashes before its first segment is another one, for which Elysia would find the operation of the path with one.
 */
export function withCheckedHost(handler: Handler): Handler {
  return (request) => {
    const host = request.headers.get("host");
    // HTTP/1.0 requires none.
    if (host !== null && !HOST.test(host)) {
      const message = "must be a host name or address with an optional port";
      throw invalid([{ field: "Host", message }], "The Host header is malformed.");
    }
    const path = pathStart(request.url);
    if (request.url.startsWith("//", path)) throw new Problem("route-not-found");
    ensureParsableUrl(request, path);
    return handler(request);
  };
}

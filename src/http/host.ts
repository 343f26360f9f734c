import { invalid, Problem } from "../domain/problem/problem.ts";
import type { Log } from "../ops/observability/log.ts";
import { type Handler, pathStart, requestIdOf } from "./request.ts";
import { problemResponse } from "./respond.ts";

/** A name or an address with an optional port. Clients may send an empty host. */
const HOST = /^(?:[\w.~-]+|\[[\da-fA-F:.]+\])?(?::\d{1,5})?$/;

let lastValid = "";

/** True for a Host header that names a host, and for none: HTTP/1.0 requires none. */
function isValidHost(host: string | null): boolean {
  if (host === null || host === lastValid) return true;
  if (!HOST.test(host)) return false;
  // Nearly all requests of a service have the same host.
  lastValid = host;
  return true;
}

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
 * Refuses requests with a malformed Host header, and makes the URL of the others parsable. A path with two slashes
 * before its first segment is another one, for which Elysia would find the operation of the path with one.
 */
export function withCheckedHost(
  context: { readonly baseUrl: string; readonly log: Log },
  handler: Handler,
): Handler {
  const refused = (request: Request, problem: Problem) =>
    problemResponse(problem, { ...context, requestId: requestIdOf(request) });
  return (request) => {
    if (!isValidHost(request.headers.get("host"))) {
      const message = "must be a host name or address with an optional port";
      const problem = invalid([{ field: "Host", message }], "The Host header is malformed.");
      return refused(request, problem);
    }
    const path = pathStart(request.url);
    if (request.url.startsWith("//", path)) {
      return refused(request, new Problem("route-not-found"));
    }
    ensureParsableUrl(request, path);
    return handler(request);
  };
}

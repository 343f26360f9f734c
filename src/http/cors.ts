import type { Handler } from "./request.ts";

/** The time for which browsers keep the answer of a preflight. */
const CORS_MAX_AGE_SECONDS = 600;
const METHODS = "DELETE, GET, HEAD, PATCH, POST, PUT";

/** The headers of requests that operations read, besides those that every page may send. */
const REQUEST_HEADERS = [
  "Authorization",
  "Content-Encoding",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "Linear-Delivery",
  "MCP-Protocol-Version",
  "Svix-Id",
  "Traceparent",
  "Tracestate",
  "Webhook-Id",
  "X-API-Key",
  "X-Gitea-Delivery",
  "X-GitHub-Delivery",
  "X-Gitlab-Event-UUID",
  "X-Request-Id",
  "X-Request-UUID",
  "X-Routing-Key",
  "X-Service-Webhook-Secret",
  "X-Shopify-Webhook-Id",
].join(", ");

/** The headers of responses that a page may read, besides those that every page may. */
const RESPONSE_HEADERS = [
  "Accept",
  "Accept-Encoding",
  "Allow",
  "ETag",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Server-Timing",
  "Vary",
  "WWW-Authenticate",
  "X-Change",
  "X-Content-Type-Options",
  "X-Ignored-Fields",
  "X-Index-Behind",
  "X-Next-Page",
  "X-Request-Id",
  "X-Retrieval",
  "X-Routing-Key",
  "X-Search-Plan",
  "X-Serves-Release",
  "X-Total-Matches",
].join(", ");

/** The headers of the answer to a preflight. The browser then refuses other methods and headers than these. */
const PREFLIGHT_HEADERS = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": REQUEST_HEADERS,
  "access-control-max-age": String(CORS_MAX_AGE_SECONDS),
  vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
};

/**
 * Lets pages of these origins call the service, by the CORS protocol of the Fetch standard. It is the
 * outermost handler, so that pages can read errors and refusals, too. Credentials are in headers that
 * a page sets itself, so cookies are not allowed. Without origins the handler is returned as it is.
 */
export function withCors(origins: readonly string[], handler: Handler): Handler {
  if (origins.length === 0) return handler;
  const allowed = new Set(origins);
  return async (request) => {
    const origin = request.headers.get("origin");
    const isAllowed = origin !== null && allowed.has(origin);
    const asks = request.headers.has("access-control-request-method");
    if (isAllowed && request.method === "OPTIONS" && asks) {
      const headers = { "access-control-allow-origin": origin, ...PREFLIGHT_HEADERS };
      return new Response(null, { status: 204, headers });
    }
    const response = await handler(request);
    // The answer to one origin must not be served to another from a cache.
    response.headers.append("vary", "Origin");
    if (!isAllowed) return response;
    response.headers.set("access-control-allow-origin", origin);
    response.headers.set("access-control-expose-headers", RESPONSE_HEADERS);
    return response;
  };
}

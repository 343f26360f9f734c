import {
  CHANGE_WAIT_MAX_MS,
  DEPENDENCY_RETRY_AFTER_SECONDS,
  INDEX_BEHIND_RETRY_AFTER_SECONDS,
  OVERLOAD_RETRY_AFTER_SECONDS,
  RATE_LIMIT_WINDOW_SECONDS,
} from "../limits.ts";

type Category =
  | "AUTH"
  | "RESOURCE"
  | "VALIDATION"
  | "DATABASE"
  | "SUBSCRIPTION"
  | "INTEGRATION"
  | "INTERNAL";

/** The texts and status of an error type, which every occurrence shares. */
export interface ErrorType {
  readonly status: number;
  readonly category: Category;
  readonly title: string;
  /** The default `detail` of an occurrence. */
  readonly detail: string;
  readonly suggestion: string;
  readonly steps: readonly string[];
  readonly tips?: readonly string[];
  readonly example?: string;
  readonly related?: readonly string[];
  readonly retryAfterSeconds?: number;
}

function notFound(resource: string, where: string, related: readonly string[] = []): ErrorType {
  return {
    status: 404,
    category: "RESOURCE",
    title: `${resource} not found`,
    detail: `No such ${resource.toLowerCase()} is visible to this caller.`,
    suggestion: `Check the ${where}, and that the credential's user has access to it.`,
    steps: [
      `Compare the ${where} in the path with the one you were given.`,
      "Make sure that the credential belongs to a member of the project.",
      "If the credential is an API key bound to a project, make sure that it is this project.",
    ],
    tips: ["A resource of another tenant is reported exactly like one that does not exist."],
    related: ["unauthorized", "permission-denied", ...related],
  };
}

/** Every error type of the service, by slug. */
export const CATALOGUE = {
  "validation-failed": {
    status: 400,
    category: "VALIDATION",
    title: "Validation failed",
    detail: "The request is not valid.",
    suggestion: "Correct the fields listed in errors and send the request again.",
    steps: [
      "Read errors: each entry names a field and its fault.",
      "Compare the request with the operation's schema at /docs.",
    ],
    example: '{"errors":[{"field":"vector[3]","message":"must be a finite number"}]}',
    related: ["unsupported-media-type", "payload-too-large", "invalid-cursor"],
  },
  "invalid-cursor": {
    status: 400,
    category: "VALIDATION",
    title: "Invalid cursor",
    detail: "The cursor is malformed, has expired, or belongs to another query.",
    suggestion: "Start again from the first page, without a cursor.",
    steps: [
      "Use page_info.next exactly as it was returned.",
      "Repeat the parameters of the query that returned it, or omit them.",
    ],
    related: ["validation-failed"],
  },
  unauthorized: {
    status: 401,
    category: "AUTH",
    title: "Unauthorized",
    detail: "A valid credential is required.",
    suggestion: "Send a JWT or an API key as a bearer token, or an API key in X-API-Key.",
    steps: [
      "Send Authorization: Bearer <JWT or API key>, or X-API-Key: <API key>.",
      "Check that the credential is complete: API keys carry a checksum that reveals typos.",
      "Check that it has not expired and has not been revoked.",
    ],
    example: "curl -H 'Authorization: Bearer tsr_<prefix>_<secret>' ...",
    related: ["permission-denied"],
  },
  "permission-denied": {
    status: 403,
    category: "AUTH",
    title: "Permission denied",
    detail: "The credential lacks the permission for this operation.",
    suggestion: "Use a credential that holds the permission.",
    steps: [
      "Read the detail: it names the missing permission.",
      "Create an API key whose scopes include it, or use an unscoped key.",
    ],
    tips: ["Permissions that start with account. are never part of an unscoped key."],
    related: ["unauthorized"],
  },
  "untrusted-billing-origin": {
    status: 403,
    category: "SUBSCRIPTION",
    title: "Untrusted billing origin",
    detail: "Billing may not be started from this origin.",
    suggestion: "Start the upgrade from an origin on the billing allowlist.",
    steps: [
      "Compare scheme, host and port of the Origin header and of the redirect URLs with the allowlist.",
      "Ask the operator to add the origin to BILLING_ORIGINS if it should be trusted.",
    ],
    related: ["permission-denied"],
  },
  "project-not-found": notFound("Project", "project ID or slug"),
  "environment-not-found": notFound("Environment", "environment name"),
  "release-not-found": notFound("Release", "release name or ID"),
  "branch-not-found": notFound("Branch", "branch ID"),
  "conversation-not-found": notFound("Conversation", "conversation ID"),
  "message-not-found": notFound("Message", "message ID"),
  "input-request-not-found": notFound("Input request", "input request ID"),
  "chunk-not-found": notFound("Chunk", "chunk ID"),
  "file-not-found": notFound("File", "ID or percent-encoded path of the file"),
  "user-not-found": notFound("User", "user ID or email address"),
  "api-key-not-found": notFound("API key", "API key ID"),
  "webhook-not-found": notFound("Webhook", "webhook ID"),
  "webhook-event-not-found": notFound("Webhook event", "webhook event ID"),
  "error-type-not-found": notFound("Error type", "slug"),
  "route-not-found": {
    status: 404,
    category: "RESOURCE",
    title: "Route not found",
    detail: "No operation has this path.",
    suggestion: "Look up the path in the API documentation at /docs.",
    steps: ["Compare the path with /docs.", "Check that it contains no version segment."],
    related: ["method-not-allowed"],
  },
  "method-not-allowed": {
    status: 405,
    category: "RESOURCE",
    title: "Method not allowed",
    detail: "The path exists, but not with this method.",
    suggestion: "Use one of the methods in the Allow header.",
    steps: ["Read the Allow header of the response."],
    related: ["route-not-found"],
  },
  "request-timeout": {
    status: 408,
    category: "VALIDATION",
    title: "Request timeout",
    detail: "The request body did not arrive in time.",
    suggestion: "Send the request again over a new connection.",
    steps: [
      "Send the whole body at once: the connection was closed before it was complete.",
      "Check that Content-Length is the length of the body.",
    ],
    related: ["payload-too-large", "overloaded"],
  },
  "project-slug-taken": {
    status: 409,
    category: "RESOURCE",
    title: "Project slug taken",
    detail: "Another project has this slug.",
    suggestion: "Choose another slug.",
    steps: ["Slugs are unique across the service.", "Send the request again with another slug."],
    related: ["validation-failed"],
  },
  "release-name-taken": {
    status: 409,
    category: "RESOURCE",
    title: "Release name taken",
    detail: "The project has a release with this name, and releases never change.",
    suggestion: "Choose another name.",
    steps: ["Look up the names in the project.", "Send the request again with another name."],
    related: ["release-not-found"],
  },
  "release-in-use": {
    status: 409,
    category: "RESOURCE",
    title: "Release in use",
    detail: "An environment serves the release.",
    suggestion: "Let the environment serve another release or its working set first.",
    steps: [
      "Look up the environments of the project: `active_release` names the release that each serves.",
      "Change these environments and send the request again.",
    ],
    related: ["release-not-found"],
  },
  "environment-name-taken": {
    status: 409,
    category: "RESOURCE",
    title: "Environment name taken",
    detail: "The project has an environment with this name.",
    suggestion: "Choose another name.",
    steps: [
      "Look up the environments of the project.",
      "Send the request again with another name.",
    ],
    related: ["environment-not-found"],
  },
  "webhook-id-taken": {
    status: 409,
    category: "RESOURCE",
    title: "Webhook id taken",
    detail: "The project has a webhook with this id.",
    suggestion: "Choose another id, or delete the webhook first.",
    steps: ["Look up the webhooks of the project.", "Send the request again with another id."],
    related: ["webhook-not-found"],
  },
  "last-owner": {
    status: 409,
    category: "RESOURCE",
    title: "Last owner",
    detail: "The project has no other owner.",
    suggestion: "Make another user an owner first.",
    steps: ["Give another member the role owner.", "Send the request again."],
    related: ["user-not-found", "permission-denied"],
  },
  "embedder-mismatch": {
    status: 409,
    category: "RESOURCE",
    title: "Embedder mismatch",
    detail: "Embeddings of different embedders cannot be compared.",
    suggestion: "Change the project's embedder with `rebuild`, which embeds its chunks again.",
    steps: [
      "Read detail: it names the embedder of the project's chunks and the other one.",
      "Use the embedder of the project, or have its chunks embedded again by the other one.",
    ],
    related: ["validation-failed"],
  },
  "quota-exceeded": {
    status: 409,
    category: "SUBSCRIPTION",
    title: "Quota exceeded",
    detail: "The project may not store that much.",
    suggestion: "Store less, or ask the operator for a higher quota.",
    steps: [
      "Read the detail: it names the quota. Nothing of the request was stored.",
      "Versions that no environment and no release holds count, too.",
      "The operator sees and sets quotas with `tessera projects quota`.",
    ],
    related: ["payload-too-large"],
  },
  "idempotency-conflict": {
    status: 409,
    category: "RESOURCE",
    title: "Idempotency conflict",
    detail: "The request repeats an earlier one whose result cannot be returned.",
    suggestion: "Read idempotency: it says whether and when to retry.",
    steps: [
      "in_progress: the first attempt is still running; retry after retry_after_seconds.",
      "payload_mismatch: the key was used with other contents; do not retry, use a new key.",
      "outcome_unknown: retry with the same key; the effect happens exactly once.",
    ],
    related: ["input-request-closed"],
  },
  "input-request-closed": {
    status: 409,
    category: "RESOURCE",
    title: "Input request closed",
    detail: "The input request is no longer open.",
    suggestion: "Wait for a new input request.",
    steps: ["Read the status of the input request: it expired or was cancelled."],
    related: ["idempotency-conflict", "input-request-not-found"],
  },
  "precondition-failed": {
    status: 412,
    category: "RESOURCE",
    title: "Precondition failed",
    detail: "The file is not the version that If-Match names.",
    suggestion: "Read the file again, apply the change to it, and send its new ETag in If-Match.",
    steps: [
      "Read the file: somebody else has changed or removed it, or it never was there.",
      "Send the ETag of that answer in If-Match.",
    ],
    tips: ["An environment that serves a release is read from it, but changes its working set."],
    related: ["file-not-found"],
  },
  "payload-too-large": {
    status: 413,
    category: "VALIDATION",
    title: "Payload too large",
    detail: "The request body is larger than the service accepts.",
    suggestion: "Send a smaller body.",
    steps: [
      "Send the vector as application/octet-stream or base64, about a quarter of its size in JSON.",
      "Split an import into several: repeating a line changes nothing.",
      "The operator can raise MAX_BODY_BYTES, and IMPORT_MAX_BYTES for imports.",
    ],
    related: ["validation-failed"],
  },
  "unsupported-media-type": {
    status: 415,
    category: "VALIDATION",
    title: "Unsupported media type",
    detail: "The operation does not accept this content type.",
    suggestion: "Send the body in a content type and encoding that the detail names.",
    steps: [
      "Read the detail, or the headers Accept and Accept-Encoding of the response.",
      "Look up the operation's content types at /docs.",
    ],
    related: ["validation-failed"],
  },
  "internal-error": {
    status: 500,
    category: "INTERNAL",
    title: "Internal error",
    detail: "An unexpected error occurred in the service.",
    suggestion: "Retry later; if it persists, report the instance of this problem.",
    steps: ["Note the instance: the operator can find the cause in the log with it."],
  },
  "billing-not-configured": {
    status: 500,
    category: "SUBSCRIPTION",
    title: "Billing not configured",
    detail: "This service has no payment provider: STRIPE_SECRET_KEY is not set.",
    suggestion: "Ask the operator to configure billing.",
    steps: ["The operator sets STRIPE_SECRET_KEY and STRIPE_PRICES."],
    related: ["billing-provider-error"],
  },
  "billing-provider-error": {
    status: 500,
    category: "INTEGRATION",
    title: "Billing provider error",
    detail: "The payment provider could not be reached or gave no usable response.",
    suggestion: "Retry later. Nothing was charged.",
    steps: ["Retry after a few seconds: a repeated upgrade does not open a second session."],
    related: ["billing-not-configured"],
  },
  "rate-limited": {
    status: 429,
    category: "SUBSCRIPTION",
    title: "Rate limited",
    detail: "The credential or its user has used up the requests for this period.",
    suggestion: "Wait for the seconds that Retry-After names, then repeat the request.",
    steps: [
      "Read RateLimit-Policy: `q` requests are allowed in `w` seconds.",
      "Read RateLimit of every answer: `r` requests are left for the next `t` seconds.",
      "Spread requests over time, or ask the operator for a higher limit.",
    ],
    tips: ["The request was refused before it had any effect, so it can be repeated."],
    related: ["overloaded"],
    retryAfterSeconds: RATE_LIMIT_WINDOW_SECONDS,
  },
  overloaded: {
    status: 503,
    category: "INTERNAL",
    title: "Overloaded",
    detail: "The service has more work than it can queue.",
    suggestion: "Retry after the time in Retry-After, with jitter.",
    steps: ["Wait for Retry-After seconds.", "Reduce the number of concurrent requests."],
    retryAfterSeconds: OVERLOAD_RETRY_AFTER_SECONDS,
    related: ["dependency-unavailable"],
  },
  "dependency-unavailable": {
    status: 503,
    category: "DATABASE",
    title: "Dependency unavailable",
    detail: "A server that this operation needs does not answer.",
    suggestion: "Retry after the time in Retry-After.",
    steps: ["Wait for Retry-After seconds.", "Look at /readyz for the missing part."],
    retryAfterSeconds: DEPENDENCY_RETRY_AFTER_SECONDS,
    related: ["overloaded"],
  },
  "index-behind": {
    status: 503,
    category: "INTERNAL",
    title: "Index behind",
    detail: `The index does not have the change in min_change, ${CHANGE_WAIT_MAX_MS / 1_000} seconds after the request.`,
    suggestion:
      "Retry after the time in Retry-After, or without min_change for the state that the index has.",
    steps: [
      "Wait for Retry-After seconds.",
      "Look at the project's index-state: `pending_changes` counts the changes that are not searchable yet.",
    ],
    tips: ["The change is stored. Reads of files and lists have it already."],
    related: ["overloaded", "dependency-unavailable"],
    retryAfterSeconds: INDEX_BEHIND_RETRY_AFTER_SECONDS,
  },
} as const satisfies Record<string, ErrorType>;

export type Slug = keyof typeof CATALOGUE;

/** The error type of a slug; undefined when the service has no such type. */
export function errorType(slug: string): ErrorType | undefined {
  return Object.hasOwn(CATALOGUE, slug) ? CATALOGUE[slug as Slug] : undefined;
}

/** The stable machine-readable code of a slug, such as `PROJECT_NOT_FOUND`. */
export function problemCode(slug: string): string {
  return slug.toUpperCase().replaceAll("-", "_");
}

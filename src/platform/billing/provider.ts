import Stripe from "stripe";
import {
  BILLING_ATTEMPT_TIMEOUT_MS,
  BILLING_RETRIES,
  BILLING_RETRIEVE_TIMEOUT_MS,
} from "../../domain/limits.ts";
import { boundedFetch } from "../../ops/bounded-fetch.ts";
import { tracedFetch } from "../../ops/observability/tracing.ts";
import { type Provider, ProviderError } from "./provider-error.ts";
import { sessionOf } from "./session.ts";

const BILLING_ERROR_MAX_CHARS = 400;
const BILLING_ANSWER_MAX_BYTES = 1_048_576;
/** Response headers that the SDK acts on. All others are removed, so that none reaches its logs. */
const FORWARDED_HEADERS = ["request-id", "stripe-should-retry"];
/** Replaces statuses that the API never sends: redirects, and statuses without a body. */
const BAD_GATEWAY = 502;

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * `fetch` for the provider's SDK, which passes on only responses that the SDK can handle. Without
 * it, a JSON response that is not an object leaves the SDK's promise pending and ends the process
 * with an unhandled rejection; responses of any length are read; and a redirect is followed with
 * the secret key.
 */
async function guardedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, init, BILLING_ANSWER_MAX_BYTES, tracedFetch);
  const text = await response.text();
  const { status } = response;
  const usable = status === 200 || status === 201 || status >= 400;
  const headers = new Headers();
  for (const name of FORWARDED_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(isJsonObject(text) ? text : "not a JSON object", {
    status: usable ? status : BAD_GATEWAY,
    headers,
  });
}

interface ProviderOptions {
  readonly secretKey: string;
  /** The base URL of the provider's API; its public API when undefined. */
  readonly apiBase: string | undefined;
  /** Timeout of one attempt to open a session. */
  readonly attemptTimeoutMs?: number;
}

const KEY_LIKE = /\b[sr]k_(?:live|test)_[\w*]+/g;
const REFUSED = "The payment provider refused the upgrade.";

/** Makes the provider's text safe for logs and bodies: no keys, one line, bounded length. */
function sanitize(text: unknown, secretKey: string): string {
  if (typeof text !== "string") return "";
  return text
    .replaceAll(secretKey, "[redacted]")
    .replace(KEY_LIKE, "[redacted]")
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ")
    .slice(0, BILLING_ERROR_MAX_CHARS);
}

/** The reason for the caller, or null for an error that the caller cannot mend. */
function refusalOf(error: Stripe.errors.StripeError, message: string): string | null {
  const status = error.statusCode ?? 0;
  if (status === 401 || status === 403) {
    // The provider's message is about the service's key and meant for the operator.
    return "The payment provider refused the credentials of this service.";
  }
  if (status === 429 || error.code === "rate_limit") {
    return "The payment provider accepts no more requests at the moment; try again later.";
  }
  // A conflict means that an attempt with this key is still running, an idempotency error that this service reused a
  // key. Neither concerns the upgrade.
  if (status === 409 || error instanceof Stripe.errors.StripeIdempotencyError) return null;
  return status >= 400 && status < 500 ? message || REFUSED : null;
}

function providerError(error: unknown, secretKey: string): ProviderError {
  if (error instanceof ProviderError) return error;
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new ProviderError("the payment provider's response is malformed");
  }
  const message = sanitize(error.message, secretKey);
  const status = error.statusCode;
  return new ProviderError(`the payment provider failed: ${message}`, {
    refusal: refusalOf(error, message),
    answered: status !== undefined && status >= 400 && status !== 409,
    status,
    code: sanitize(error.code, secretKey) || undefined,
    param: sanitize(error.param, secretKey) || undefined,
  });
}

function serverAddress(apiBase: string | undefined) {
  if (apiBase === undefined) return {};
  const { protocol, hostname, port } = new URL(apiBase);
  const isPlain = protocol === "http:";
  return {
    protocol: isPlain ? ("http" as const) : ("https" as const),
    host: hostname,
    port: port || (isPlain ? "80" : "443"),
  };
}

/** The payment provider through its SDK. Every method ends within its timeout. */
export function createProvider(options: ProviderOptions): Provider {
  const { secretKey, apiBase, attemptTimeoutMs = BILLING_ATTEMPT_TIMEOUT_MS } = options;
  const { sessions } = new Stripe(secretKey, {
    ...serverAddress(apiBase),
    // The SDK calls it with a URL and options only, and uses no other property of `fetch`.
    httpClient: Stripe.createFetchHttpClient(guardedFetch as unknown as typeof fetch),
    timeout: attemptTimeoutMs,
    maxNetworkRetries: BILLING_RETRIES,
    telemetry: false,
  }).checkout;

  return {
    async openSession(parameters, idempotencyKey) {
      try {
        const session = sessionOf(await sessions.create(parameters, { idempotencyKey }));
        if (session?.url) return session;
      } catch (error) {
        throw providerError(error, secretKey);
      }
      throw new ProviderError("the payment provider's session is malformed");
    },
    async retrieveSession(sessionId) {
      const once = { timeout: BILLING_RETRIEVE_TIMEOUT_MS, maxNetworkRetries: 0 };
      try {
        return sessionOf(await sessions.retrieve(sessionId, {}, once)) ?? "unknown";
      } catch (error) {
        return providerError(error, secretKey).code === "resource_missing" ? null : "unknown";
      }
    },
  };
}

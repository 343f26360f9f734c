import Stripe from "stripe";
import {
  BILLING_ATTEMPT_TIMEOUT_MS,
  BILLING_ERROR_MAX_CHARS,
  BILLING_LOOK_TIMEOUT_MS,
  BILLING_RETRIES,
} from "../shared/limits.ts";
import type { CheckoutParams } from "./checkout.ts";
import { type Session, sessionOf } from "./session.ts";
import { guardedFetch } from "./wire.ts";

export interface ProviderOptions {
  readonly secretKey: string;
  /** The provider's address; its public API where undefined. */
  readonly apiBase: string | undefined;
  /** For one attempt of opening a session. */
  readonly attemptTimeoutMs?: number;
}

/** What went wrong at the provider, with nothing in it that may not be logged. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  /** The reason for the caller when the provider refused; null when it gave no usable answer. */
  readonly refusal: string | null;
  /** True when the provider answered with an error: then nothing was opened, and a retry is new. */
  readonly answered: boolean;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;

  constructor(message: string, facts: Partial<Omit<ProviderFailure, keyof Error>> = {}) {
    super(message);
    this.refusal = facts.refusal ?? null;
    this.answered = facts.answered ?? false;
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param;
  }
}

export interface Provider {
  /** Opens a checkout session. Repeating the attempt with the same key returns the same one. */
  open(params: CheckoutParams, idempotencyKey: string): Promise<Session>;
  /** The session as it is now; `gone` when the provider knows none; null when it cannot tell. */
  look(sessionId: string): Promise<Session | "gone" | null>;
}

const KEY_LIKE = /\b[sr]k_(?:live|test)_[\w*]+/g;
const REFUSED = "The payment provider refused the upgrade.";

/** Text of the provider that is fit for logs and bodies: without keys, on one line, not long. */
function clean(text: unknown, secretKey: string): string {
  if (typeof text !== "string") return "";
  return text
    .replaceAll(secretKey, "[redacted]")
    .replace(KEY_LIKE, "[redacted]")
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ")
    .slice(0, BILLING_ERROR_MAX_CHARS);
}

/** The reason for the caller, or null when the error is none that a caller could act on. */
function refusalOf(error: Stripe.errors.StripeError, message: string): string | null {
  const status = error.statusCode ?? 0;
  if (status === 401 || status === 403) {
    // The provider's own words are about the key; they are for the operator.
    return "The payment provider refused the credentials of this service.";
  }
  if (status === 429 || error.code === "rate_limit") {
    return "The payment provider takes no more requests for now; try again later.";
  }
  // A conflict is an attempt that still runs, and a key that was used for something else is a
  // fault of ours: both say nothing about the upgrade.
  if (status === 409 || error instanceof Stripe.errors.StripeIdempotencyError) return null;
  return status >= 400 && status < 500 ? message || REFUSED : null;
}

function failureOf(error: unknown, secretKey: string): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new ProviderFailure("the payment provider's answer is malformed");
  }
  const message = clean(error.message, secretKey);
  const status = error.statusCode;
  return new ProviderFailure(`the payment provider failed: ${message}`, {
    refusal: refusalOf(error, message),
    answered: status !== undefined && status >= 400 && status !== 409,
    status,
    code: clean(error.code, secretKey) || undefined,
    param: clean(error.param, secretKey) || undefined,
  });
}

function address(apiBase: string | undefined) {
  if (apiBase === undefined) return {};
  const { protocol, hostname, port } = new URL(apiBase);
  const isPlain = protocol === "http:";
  return {
    protocol: isPlain ? ("http" as const) : ("https" as const),
    host: hostname,
    port: port || (isPlain ? "80" : "443"),
  };
}

/** The payment provider through its SDK. Every method ends within the limits named for it. */
export function createProvider(options: ProviderOptions): Provider {
  const { secretKey, apiBase, attemptTimeoutMs = BILLING_ATTEMPT_TIMEOUT_MS } = options;
  const { sessions } = new Stripe(secretKey, {
    ...address(apiBase),
    // The SDK calls it with an address and options, and uses nothing else of what `fetch` has.
    httpClient: Stripe.createFetchHttpClient(guardedFetch as unknown as typeof fetch),
    timeout: attemptTimeoutMs,
    maxNetworkRetries: BILLING_RETRIES,
    telemetry: false,
  }).checkout;

  return {
    async open(params, idempotencyKey) {
      try {
        const session = sessionOf(await sessions.create(params, { idempotencyKey }));
        if (session?.url) return session;
      } catch (error) {
        throw failureOf(error, secretKey);
      }
      throw new ProviderFailure("the payment provider's session is malformed");
    },
    async look(sessionId) {
      const once = { timeout: BILLING_LOOK_TIMEOUT_MS, maxNetworkRetries: 0 };
      try {
        return sessionOf(await sessions.retrieve(sessionId, {}, once));
      } catch (error) {
        return failureOf(error, secretKey).code === "resource_missing" ? "gone" : null;
      }
    },
  };
}

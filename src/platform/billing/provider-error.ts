import type { CheckoutParameters } from "./checkout-parameters.ts";
import type { Session } from "./session.ts";

export interface Provider {
  /** Opens a checkout session. The same idempotency key returns the same session. */
  openSession(parameters: CheckoutParameters, idempotencyKey: string): Promise<Session>;
  /**
   * The current state of a session; null when the provider has no such session, `unknown` when it
   * gives no usable answer.
   */
  retrieveSession(sessionId: string): Promise<Session | "unknown" | null>;
}

/** A failed request to the provider. It contains no secret, so it is safe to log. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** Why the provider refused, for the caller; null when it gave no usable answer. */
  readonly refusal: string | null;
  /** True when the provider answered with an error: no session was opened. */
  readonly answered: boolean;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;

  constructor(message: string, details: Partial<Omit<ProviderError, keyof Error>> = {}) {
    super(message);
    this.refusal = details.refusal ?? null;
    this.answered = details.answered ?? false;
    this.status = details.status;
    this.code = details.code;
    this.param = details.param;
  }
}

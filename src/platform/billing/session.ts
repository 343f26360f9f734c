import type Stripe from "stripe";

/** The provider's default, for responses without an expiry. */
const BILLING_SESSION_LIFE_SECONDS = 86_400;

/** A checkout session, reduced to the fields that this service uses. */
export interface Session {
  readonly id: string;
  /** The hosted checkout page; null when the session is over. */
  readonly url: string | null;
  readonly isOpen: boolean;
  /** The amount due; null when the provider does not report it. */
  readonly due: AmountDue | null;
  /** The provider creates the customer by the time the session is paid; null before. */
  readonly customerId: string | null;
  readonly expiresAt: Date;
}

interface AmountDue {
  /** In the currency's minor unit. */
  readonly minor: bigint;
  readonly currency: string;
}

type UntrustedSession = { readonly [Name in keyof Stripe.Checkout.Session]?: unknown };

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Undefined when the value is malformed. */
function urlOf(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isText(value) || !URL.canParse(value)) return undefined;
  return /^https?:$/.test(new URL(value).protocol) ? value : undefined;
}

/** Undefined when a value is malformed. */
function dueOf({ amount_total: amount, currency }: UntrustedSession): AmountDue | null | undefined {
  const isAbsent = (value: unknown) => value === null || value === undefined;
  if (isAbsent(amount) || isAbsent(currency)) return null;
  // JSON.parse has already rounded numbers beyond the safe integers.
  if (!Number.isSafeInteger(amount) || !isText(currency)) return undefined;
  if (!/^[A-Za-z]{3}$/.test(currency)) return undefined;
  return { minor: BigInt(amount as number), currency };
}

function customerOf(value: unknown): string | null {
  if (isText(value)) return value;
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return isText(id) ? id : null;
}

/** The reported expiry if it is in the future, otherwise the provider's default. */
function expiryOf(value: unknown): Date {
  const now = Date.now() / 1_000;
  const isAhead = Number.isSafeInteger(value) && (value as number) > now;
  return new Date((isAhead ? (value as number) : now + BILLING_SESSION_LIFE_SECONDS) * 1_000);
}

/**
 * The session in a response of the provider, or null when the response is invalid. The types of the SDK only promise a
 * valid session, so every field is checked.
 */
export function sessionOf(response: UntrustedSession): Session | null {
  const url = urlOf(response.url);
  const due = dueOf(response);
  const expiresAt = expiryOf(response.expires_at);
  if (!isText(response.id) || url === undefined || due === undefined) return null;
  if (Number.isNaN(expiresAt.getTime())) return null;
  return {
    id: response.id,
    url,
    isOpen: response.status !== "complete" && response.status !== "expired",
    due,
    customerId: customerOf(response.customer),
    expiresAt,
  };
}

import type Stripe from "stripe";
import { BILLING_SESSION_LIFE_SECONDS } from "../shared/limits.ts";

/** A checkout session, as far as it matters here. */
export interface Session {
  readonly id: string;
  /** The hosted page; the provider takes it away when the session is over. */
  readonly url: string | null;
  readonly isOpen: boolean;
  /** What is due, in the minor unit of the currency; null when the provider does not tell. */
  readonly due: Due | null;
  /** Made by the provider at the latest when the session is paid. */
  readonly customerId: string | null;
  readonly expiresAt: Date;
}

export interface Due {
  readonly minor: bigint;
  readonly currency: string;
}

type Loose = { readonly [Name in keyof Stripe.Checkout.Session]?: unknown };

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function urlOf(value: unknown): string | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isText(value) || !URL.canParse(value)) return undefined;
  return /^https?:$/.test(new URL(value).protocol) ? value : undefined;
}

function dueOf({ amount_total: amount, currency }: Loose): Due | null | undefined {
  const isAbsent = (value: unknown) => value === null || value === undefined;
  if (isAbsent(amount) || isAbsent(currency)) return null;
  // Beyond the safe integers a JSON number is no longer the amount that was sent.
  if (!Number.isSafeInteger(amount) || !isText(currency)) return undefined;
  if (!/^[A-Za-z]{3}$/.test(currency)) return undefined;
  return { minor: BigInt(amount as number), currency };
}

function customerOf(value: unknown): string | null {
  if (isText(value)) return value;
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return isText(id) ? id : null;
}

/** The end of an open session lies ahead; what does not tells nothing about it. */
function expiryOf(value: unknown): Date {
  const now = Date.now() / 1_000;
  const isAhead = Number.isSafeInteger(value) && (value as number) > now;
  return new Date((isAhead ? (value as number) : now + BILLING_SESSION_LIFE_SECONDS) * 1_000);
}

/**
 * The session in an answer, or null when the answer is not one. The SDK's types only say what the
 * provider means to send: nothing of it is taken on trust.
 */
export function sessionOf(answer: Loose): Session | null {
  const url = urlOf(answer.url);
  const due = dueOf(answer);
  const expiresAt = expiryOf(answer.expires_at);
  if (!isText(answer.id) || url === undefined || due === undefined) return null;
  if (Number.isNaN(expiresAt.getTime())) return null;
  return {
    id: answer.id,
    url,
    isOpen: answer.status !== "complete" && answer.status !== "expired",
    due,
    customerId: customerOf(answer.customer),
    expiresAt,
  };
}

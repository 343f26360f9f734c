import { createHash } from "node:crypto";
import type Stripe from "stripe";
import { Problem } from "../problem/problem.ts";
import type { Upgrade } from "./schema.ts";

export type CheckoutParams = Stripe.Checkout.SessionCreateParams;
type LineItem = NonNullable<CheckoutParams["line_items"]>[number];

/** Everything that a checkout is opened with, and what makes two of them the same upgrade. */
export interface Checkout {
  readonly params: CheckoutParams;
  /** SHA-256 over `params`: another price, number or address is another upgrade. */
  readonly fingerprint: Uint8Array;
}

type Prices = Readonly<Record<string, string>>;

function lineItem(prices: Prices, name: string, quantity: number): LineItem[] {
  if (quantity === 0) return [];
  const price = prices[name];
  if (price === undefined) {
    throw new Problem("billing-not-configured", {
      detail: `This service has no price for ${name}.`,
    });
  }
  return [{ price, quantity }];
}

/** What the provider is asked for. Throws `billing-not-configured` where a price is missing. */
export function checkoutOf(accountId: string, upgrade: Upgrade, prices: Prices): Checkout {
  const { type, cycle, success_url, cancel_url } = upgrade;
  const metadata = { account_id: accountId, tier: type, cycle };
  const params: CheckoutParams = {
    mode: "subscription",
    client_reference_id: accountId,
    metadata,
    // The provider does not copy a session's metadata to the subscription that it ends in.
    subscription_data: { metadata },
    line_items: [
      ...lineItem(prices, `${type}.${cycle}`, upgrade.quantity ?? 1),
      ...lineItem(prices, `server.${cycle}`, upgrade.server_quantity ?? 0),
      ...lineItem(prices, `sandbox.${cycle}`, upgrade.sandbox_quantity ?? 0),
    ],
    ...(success_url === undefined ? {} : { success_url }),
    ...(cancel_url === undefined ? {} : { cancel_url }),
  };
  return { params, fingerprint: createHash("sha256").update(JSON.stringify(params)).digest() };
}

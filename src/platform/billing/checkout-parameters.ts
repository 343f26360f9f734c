import { createHash } from "node:crypto";
import type Stripe from "stripe";
import { Problem } from "../../domain/problem/problem.ts";
import type { Upgrade } from "./schema.ts";

export type CheckoutParameters = Stripe.Checkout.SessionCreateParams;
type LineItem = NonNullable<CheckoutParameters["line_items"]>[number];

/** A checkout to open at the provider. */
export interface Checkout {
  readonly parameters: CheckoutParameters;
  /**
   * SHA-256 of `parameters`. Requests with the same fingerprint are the same upgrade; another
   * price, quantity or URL makes another upgrade.
   */
  readonly fingerprint: Uint8Array;
}

type Prices = Readonly<Record<string, string>>;

function lineItem(prices: Prices, name: string, quantity: number): LineItem[] {
  if (quantity === 0) return [];
  const price = prices[name];
  if (price === undefined) {
    throw new Problem("billing-not-configured", {
      detail: `This service has no price for ${name}: STRIPE_PRICES does not name it.`,
    });
  }
  return [{ price, quantity }];
}

/** The checkout of an upgrade. Throws `billing-not-configured` if a price is missing. */
export function checkoutOf(accountId: string, upgrade: Upgrade, prices: Prices): Checkout {
  const { type, cycle, success_url, cancel_url } = upgrade;
  const metadata = { account_id: accountId, tier: type, cycle };
  const parameters: CheckoutParameters = {
    mode: "subscription",
    client_reference_id: accountId,
    metadata,
    // The provider does not copy a session's metadata to the subscription created from it.
    subscription_data: { metadata },
    line_items: [
      ...lineItem(prices, `${type}.${cycle}`, upgrade.quantity ?? 1),
      ...lineItem(prices, `server.${cycle}`, upgrade.server_quantity ?? 0),
      ...lineItem(prices, `sandbox.${cycle}`, upgrade.sandbox_quantity ?? 0),
    ],
    ...(success_url === undefined ? {} : { success_url }),
    ...(cancel_url === undefined ? {} : { cancel_url }),
  };
  const fingerprint = createHash("sha256").update(JSON.stringify(parameters)).digest();
  return { parameters, fingerprint };
}

import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import { startShared } from "../cleanup.ts";
import { type Answer, type Caller, startApi } from "./api.ts";
import { BillingProvider } from "./billing-provider.ts";

export const PATH = "/account/subscription/upgrade";
export const PERMISSION = "account.billing.manage";
export const SECRET_KEY = "sk_test_aSecretThatMustNeverBeShown";
export const ORIGIN = "https://app.example.com";

export const PRICES = {
  "pro.monthly": "price_pro_m",
  "pro.yearly": "price_pro_y",
  "enterprise.monthly": "price_ent_m",
  "enterprise.yearly": "price_retired",
  "server.monthly": "price_srv_m",
  "sandbox.monthly": "price_box_m",
};
export const CATALOGUE = {
  price_pro_m: { amount: 1_999, currency: "usd" },
  price_pro_y: { amount: 4_900, currency: "jpy" },
  price_ent_m: { amount: 12_340, currency: "kwd" },
  price_srv_m: { amount: 500, currency: "usd" },
  price_box_m: { amount: 3, currency: "usd" },
};
export const NO_AMOUNT = { amount_decimal: null, currency: null, amount: null };
export const NOTHING = { checkout_url: null, ...NO_AMOUNT, error: null };
export const PRO = { type: "pro", cycle: "monthly" } as const;

export function environment(provider: BillingProvider): Record<string, string> {
  return {
    BILLING_ORIGINS: `${ORIGIN},http://localhost:5173`,
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_API_BASE: provider.url,
    STRIPE_PRICES: JSON.stringify(PRICES),
  };
}

let shared: ReturnType<typeof startBilling> | undefined;

/** A service that all tests of a process share, with a provider, and functions that send upgrades to it. */
export function sharedBilling() {
  shared ??= startShared(startBilling);
  return shared;
}

async function startBilling() {
  const provider = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
  const api = await startApi({ env: environment(provider) });

  async function upgrade(json: unknown, as?: Caller, headers = {}, at = api): Promise<Answer> {
    return await at.send("POST", PATH, { json, headers, ...(as ? { as } : {}) });
  }

  return {
    provider,
    api,
    upgrade,
    /** A user with an account of its own, who may upgrade it. */
    payer: (): Promise<Caller> => api.token(randomUUID(), { permissions: [PERMISSION] }),
    /** The checkout page of an upgrade that must succeed. */
    async checkoutUrl(json: unknown, as: Caller, at = api): Promise<string> {
      const { status, body } = await upgrade(json, as, {}, at);
      expect({ status, state: body.status }).toEqual({ status: 200, state: "pending" });
      return body.checkout_url;
    },
    /** The idempotency keys of the opening requests from index `start` on. */
    keysSince(start: number): Array<string | null> {
      return provider.openings.slice(start).map(({ headers }) => headers.get("idempotency-key"));
    },
  };
}

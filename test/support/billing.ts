import type { BillingProvider } from "./billing-provider.ts";

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

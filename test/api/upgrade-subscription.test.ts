import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import {
  NO_AMOUNT,
  NOTHING,
  ORIGIN,
  PATH,
  PERMISSION,
  PRO,
  sharedBilling,
} from "../../support/api/billing.ts";

const { api, provider, payer, upgrade, checkoutUrl } = await sharedBilling();

describe("who may upgrade a subscription", () => {
  const invalid = { type: "gold" };
  const untrusted = { origin: "https://evil.example" };

  test("an upgrade with an invalid body returns 400 before the origin is checked", async () => {
    const answer = await upgrade(invalid, await payer(), untrusted);
    expect([answer.status, answer.body.slug]).toEqual([400, "validation-failed"]);
  });

  test("an upgrade from an untrusted origin returns 403 for every tier and sends nothing to the provider", async () => {
    const before = provider.received.length;
    for (const type of ["free", "pro", "enterprise"]) {
      const answer = await upgrade({ ...PRO, type }, await payer(), untrusted);
      expect([answer.status, answer.body.slug]).toEqual([403, "untrusted-billing-origin"]);
      expect(answer.body.category).toBe("SUBSCRIPTION");
    }
    expect(provider.received).toHaveLength(before);
  });

  test("an API key with the permission in its scopes may upgrade its user's account", async () => {
    const user = await api.user();
    const key = await api.key(user, { scopes: [PERMISSION] });
    await checkoutUrl(PRO, key);
    expect(provider.lastOpening.form["client_reference_id"]).toBe(user.userId);
  });
});

describe("validation of an upgrade", () => {
  test.each([
    ["quantity", { ...PRO, quantity: 1e300 }],
    ["success_url", { ...PRO, success_url: "javascript:alert(1)" }],
    ["success_url", { ...PRO, success_url: "/done" }],
    ["cancel_url", { ...PRO, cancel_url: "data:text/html,hello" }],
  ])(
    "an upgrade with an invalid %s returns 400 and sends nothing to the provider: %j",
    async (field, body) => {
      const before = provider.received.length;
      const answer = await upgrade(body, await payer());
      expect([answer.status, answer.body.slug]).toEqual([400, "validation-failed"]);
      expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
      expect(provider.received).toHaveLength(before);
    },
  );
});

describe("the checkout of an upgrade", () => {
  test("a checkout has the tier, seats and add-ons as line items and names the account", async () => {
    const caller = await payer();
    const sent = {
      ...PRO,
      quantity: 5,
      server_quantity: 2,
      sandbox_quantity: 7,
      // The provider replaces the braces. Strictly read, they make this a template, not a URI.
      success_url: `${ORIGIN}/done?session={CHECKOUT_SESSION_ID}&x=ä`,
      cancel_url: `${ORIGIN}/billing#plans`,
      unknown_field: "is ignored",
    };
    const headers = { "content-type": "application/json" };
    const { body } = await api.send("POST", PATH, {
      as: caller,
      body: JSON.stringify(sent),
      headers,
    });
    const { userId } = caller;
    expect(provider.lastOpening.form).toEqual({
      mode: "subscription",
      client_reference_id: userId,
      "metadata[account_id]": userId,
      "metadata[tier]": "pro",
      "metadata[cycle]": "monthly",
      "subscription_data[metadata][account_id]": userId,
      "subscription_data[metadata][tier]": "pro",
      "subscription_data[metadata][cycle]": "monthly",
      "line_items[0][price]": "price_pro_m",
      "line_items[0][quantity]": "5",
      "line_items[1][price]": "price_srv_m",
      "line_items[1][quantity]": "2",
      "line_items[2][price]": "price_box_m",
      "line_items[2][quantity]": "7",
      success_url: sent.success_url,
      cancel_url: sent.cancel_url,
    });
    expect(provider.lastOpening.headers.get("idempotency-key")).toBeTruthy();
    const session = [...provider.sessions.values()].at(-1);
    expect(body).toEqual({
      status: "pending",
      checkout_url: session?.["url"],
      amount_decimal: "110.16",
      currency: "usd",
      amount: "$110.16",
      error: null,
    });
  });

  test("a checkout without quantities is for one seat and no add-ons, as with add-ons of null and 0", async () => {
    const caller = await payer();
    const url = await checkoutUrl(PRO, caller);
    const { form } = provider.lastOpening;
    expect(form["line_items[0][quantity]"]).toBe("1");
    expect(Object.keys(form).filter((name) => name.startsWith("line_items[1]"))).toEqual([]);
    for (const none of [null, 0]) {
      const same = { ...PRO, quantity: 1, server_quantity: none, sandbox_quantity: none };
      expect(await checkoutUrl(same, caller)).toBe(url);
    }
  });

  test.each([
    ["pro", "monthly", "19.99", "usd", "$19.99"],
    ["pro", "yearly", "4900", "jpy", "¥4,900"],
    ["enterprise", "monthly", "12.340", "kwd", "KWD\u00a012.340"],
  ])(
    "the amount of %s, billed %s, is %s %s, formatted as %s",
    async (type, cycle, amount_decimal, currency, amount) => {
      const { body } = await upgrade({ type, cycle }, await payer());
      expect(body).toMatchObject({ amount_decimal, currency, amount });
    },
  );

  test("a checkout has no amount when the provider reports none", async () => {
    const quiet = { id: "cs_test_quiet", url: "https://checkout.example.com/q", currency: "usd" };
    provider.react(() => Response.json({ ...quiet, amount_total: null }));
    const { body } = await upgrade(PRO, await payer());
    expect(body).toMatchObject({ status: "pending", ...NO_AMOUNT });
  });

  test("an upgrade to the free tier needs no checkout and sends nothing to the provider", async () => {
    const before = provider.received.length;
    const { body } = await upgrade({ ...PRO, type: "free" }, await payer());
    expect(body).toEqual({ ...NOTHING, status: "ok" });
    expect(provider.received).toHaveLength(before);
  });
});

describe("an incomplete billing configuration", () => {
  test("without a provider, a paid tier returns 500 billing-not-configured and the free tier succeeds", async () => {
    const bare = await sharedApi();
    const caller = await payer();
    const answer = await upgrade(PRO, caller, {}, bare);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-not-configured"]);
    expect(answer.body.detail).toContain("STRIPE_SECRET_KEY is not set");
    const free = await upgrade({ ...PRO, type: "free" }, caller, {}, bare);
    expect([free.status, free.body.status]).toEqual([200, "ok"]);
  });

  test("without a price, only upgrades that need it return 500 billing-not-configured", async () => {
    const caller = await payer();
    const before = provider.received.length;
    const answer = await upgrade({ ...PRO, cycle: "yearly", server_quantity: 1 }, caller);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-not-configured"]);
    expect(answer.body.detail).toContain("STRIPE_PRICES does not name it");
    expect(provider.received).toHaveLength(before);
    await checkoutUrl({ ...PRO, cycle: "yearly" }, caller);
  });
});

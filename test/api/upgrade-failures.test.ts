import { describe, expect, test } from "bun:test";
import { NOTHING, PRO, sharedBilling } from "../../support/api/billing.ts";
import { declined, errorAnswer, failing } from "../../support/api/billing-provider.ts";

const { provider, payer, upgrade, checkoutUrl, keysSince } = await sharedBilling();

describe("a provider that refuses or fails", () => {
  test.each([
    ["declines", declined, "Your card was declined."],
    ["limits the rate", () => errorAnswer(429, { code: "rate_limit", message: "x" }), "try again"],
    ["gives no reason", () => errorAnswer(400, { type: "invalid_request_error" }), "refused"],
    ["refuses the key", () => errorAnswer(401, { message: "Invalid key" }), "credentials"],
  ])(
    "when the provider %s, the result has status error with the reason, and a retry is a new attempt",
    async (_, reaction, reason) => {
      const caller = await payer();
      const opening = provider.openings.length;
      provider.react(reaction);
      const answer = await upgrade(PRO, caller);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        ...NOTHING,
        status: "error",
        error: expect.stringContaining(reason),
      });
      await checkoutUrl(PRO, caller);
      const keys = keysSince(opening);
      expect(new Set(keys).size).toBe(2);
    },
  );

  test("when the provider does not know a price, the result has status error with the reason", async () => {
    const { status, body } = await upgrade({ type: "enterprise", cycle: "yearly" }, await payer());
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "error", error: "No such price: 'price_retired'" });
  });

  test("when the provider fails briefly, the upgrade is retried with the same idempotency key and succeeds", async () => {
    const opening = provider.openings.length;
    provider.react(failing, failing);
    await checkoutUrl(PRO, await payer());
    const keys = keysSince(opening);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test("when the provider keeps failing, the upgrade returns 500 without the provider's message, and the next one succeeds", async () => {
    const caller = await payer();
    provider.react(failing, failing, failing);
    const answer = await upgrade(PRO, caller);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-provider-error"]);
    expect(answer.text).not.toContain("Something broke.");
    await checkoutUrl(PRO, caller);
  });
});

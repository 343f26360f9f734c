import { describe, expect, test } from "bun:test";
import { startApi, startApiProcess } from "../../support/api/api.ts";
import {
  CATALOGUE,
  environment,
  NOTHING,
  PRO,
  SECRET_KEY,
  sharedBilling,
} from "../../support/api/billing.ts";
import {
  BillingProvider,
  declined,
  errorAnswer,
  failing,
  type Reaction,
} from "../../support/api/billing-provider.ts";

const { api, provider, payer, upgrade, checkoutUrl, keysSince } = await sharedBilling();

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

  test("when the provider is unreachable, a paid tier returns 500 and the free tier succeeds", async () => {
    const gone = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
    await gone.stop();
    const unreachable = await startApi({ env: environment(gone), beside: api });
    const caller = await payer();
    const answer = await upgrade(PRO, caller, {}, unreachable);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-provider-error"]);
    const free = await upgrade({ ...PRO, type: "free" }, caller, {}, unreachable);
    expect(free.body.status).toBe("ok");
  });
});

test("the secret key appears in no response and in no log line", async () => {
  const env = { ...environment(provider), LOG_LEVEL: "trace" };
  const noisy = await startApiProcess({ env, beside: api });
  const say = (status: number, text = ""): Reaction => {
    return ({ headers }) => {
      const key = headers.get("authorization") ?? "";
      const error = { type: "invalid_request_error", code: key, param: key };
      return Response.json(
        { error: { ...error, message: `${text} ${key}` } },
        { status, headers: { "request-id": key, "stripe-notice": key, "x-key": key } },
      );
    };
  };
  const answers = [await upgrade(PRO, await payer(), {}, noisy)];
  for (const status of [400, 401, 402, 403, 404, 409, 429]) {
    const times = status === 409 ? 3 : 1;
    provider.react(...Array.from({ length: times }, () => say(status, `status ${status}`)));
    answers.push(await upgrade(PRO, await payer(), {}, noisy));
  }
  provider.react(say(500), say(502), say(503));
  answers.push(await upgrade(PRO, await payer(), {}, noisy));
  provider.react(({ headers }) => new Response(headers.get("authorization")));
  answers.push(await upgrade(PRO, await payer(), {}, noisy));
  noisy.server.kill("SIGTERM");
  await noisy.server.exited;

  // The service logged these requests, without the key.
  expect(noisy.server.logs()).toContain("billing-provider-error");
  expect(noisy.server.logs()).toContain("status 402");
  expect(noisy.server.logs()).not.toContain(SECRET_KEY);
  for (const { text } of answers) expect(text).not.toContain(SECRET_KEY);
});

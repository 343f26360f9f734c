import { beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import {
  type Answer,
  type Caller,
  startApi,
  startApiProcess,
  type TestApi,
} from "../support/api.ts";
import {
  CATALOGUE,
  environment,
  NO_AMOUNT,
  NOTHING,
  ORIGIN,
  PATH,
  PERMISSION,
  PRO,
  SECRET_KEY,
} from "../support/billing.ts";
import { BillingProvider, errorAnswer, type Reaction } from "../support/billing-provider.ts";

let provider: BillingProvider;
let api: TestApi;
/** What becomes of upgrades at a provider that never answers: it shows while other tests run. */
let unanswered: Promise<Answer[]>;

/** Somebody with an account of their own who may upgrade it. */
function payer(): Promise<Caller> {
  return api.token(randomUUID(), { permissions: [PERMISSION] });
}

async function upgrade(json: unknown, as?: Caller, headers = {}, at = api): Promise<Answer> {
  return await at.send("POST", PATH, { json, headers, ...(as ? { as } : {}) });
}

/** The checkout page of an upgrade that must have succeeded. */
async function checkoutUrl(json: unknown, as: Caller, at = api): Promise<string> {
  const { status, body } = await upgrade(json, as, {}, at);
  expect({ status, state: body.status }).toEqual({ status: 200, state: "pending" });
  return body.checkout_url;
}

function sessionAt(url: string): string {
  return /cs_test_\w+/.exec(url)?.[0] as string;
}

/** The idempotency keys of the openings from that one on. */
function keysSince(opening: number): Array<string | null> {
  return provider.openings.slice(opening).map(({ headers }) => headers.get("idempotency-key"));
}

beforeAll(async () => {
  provider = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
  api = await startApi({ env: environment(provider) });

  const silent = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
  silent.hold();
  const waiting = await startApi({ env: environment(silent), beside: api });
  const caller = await payer();
  unanswered = Promise.all([1, 2].map(() => upgrade(PRO, caller, {}, waiting)));
});

describe("a request to upgrade is judged in order:", () => {
  const invalid = { type: "gold" };
  const untrusted = { origin: "https://evil.example" };

  test("without a credential it is 401, whatever else is wrong", async () => {
    const answer = await upgrade(invalid, undefined, untrusted);
    expect(answer.status).toBe(401);
    expect(answer.body.slug).toBe("unauthorized");
    expect(answer.headers.has("www-authenticate")).toBe(true);
  });

  test("without the permission it is 403 before the body is looked at", async () => {
    const user = await api.user();
    const callers = [user, await api.key(user), await api.key(user, { scopes: ["search.query"] })];
    for (const caller of callers) {
      const answer = await upgrade(invalid, caller, untrusted);
      expect([answer.status, answer.body.slug]).toEqual([403, "permission-denied"]);
    }
  });

  test("with an invalid body it is 400 before its origin is looked at", async () => {
    const answer = await upgrade(invalid, await payer(), untrusted);
    expect([answer.status, answer.body.slug]).toEqual([400, "validation-failed"]);
  });

  test("from an untrusted origin it is 403, whatever the tier, and the provider is not asked", async () => {
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

describe("the origin of an upgrade", () => {
  test.each([
    [{ origin: ORIGIN }, {}],
    [{ origin: "http://localhost:5173" }, {}],
    [{}, { success_url: `${ORIGIN}/done`, cancel_url: "http://localhost:5173/no" }],
    [{}, {}],
  ])("%j with %j is trusted", async (headers, urls) => {
    const answer = await upgrade({ ...PRO, ...urls }, await payer(), headers);
    expect([answer.status, answer.body.status]).toEqual([200, "pending"]);
  });

  test.each([
    [{ origin: "null" }, {}],
    [{ origin: `${ORIGIN}.evil.example` }, {}],
    [{ origin: `${ORIGIN}:8443` }, {}],
    [{ origin: "http://app.example.com" }, {}],
    [{ origin: "https://evil.example" }, { success_url: `${ORIGIN}/done` }],
    [{}, { success_url: `${ORIGIN}.evil.example/done` }],
    [{}, { success_url: `${ORIGIN}/done`, cancel_url: "https://evil.example/" }],
  ])("%j with %j is not", async (headers, urls) => {
    const answer = await upgrade({ ...PRO, ...urls }, await payer(), headers);
    expect([answer.status, answer.body.slug]).toEqual([403, "untrusted-billing-origin"]);
  });
});

describe("an upgrade is refused with 400 and changes nothing", () => {
  test.each([
    ["type", { cycle: "monthly" }],
    ["type", { ...PRO, type: "gold" }],
    ["type", { ...PRO, type: null }],
    ["cycle", { type: "pro" }],
    ["cycle", { ...PRO, cycle: "weekly" }],
    ["quantity", { ...PRO, quantity: 0 }],
    ["quantity", { ...PRO, quantity: 1.5 }],
    ["quantity", { ...PRO, quantity: "2" }],
    ["quantity", { ...PRO, quantity: 1e300 }],
    ["server_quantity", { ...PRO, server_quantity: -1 }],
    ["sandbox_quantity", { ...PRO, sandbox_quantity: 0.5 }],
    ["success_url", { ...PRO, success_url: "javascript:alert(1)" }],
    ["success_url", { ...PRO, success_url: "/done" }],
    ["success_url", { ...PRO, success_url: 7 }],
    ["cancel_url", { ...PRO, cancel_url: "ftp://app.example.com/" }],
    ["cancel_url", { ...PRO, cancel_url: `https://user@app.example.com/` }],
    ["cancel_url", { ...PRO, cancel_url: `${ORIGIN}/${"x".repeat(5_000)}` }],
    ["body", []],
  ])("when %s is wrong: %j", async (field, body) => {
    const before = provider.received.length;
    const answer = await upgrade(body, await payer());
    expect([answer.status, answer.body.slug]).toEqual([400, "validation-failed"]);
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
    expect(provider.received).toHaveLength(before);
  });

  test("when the body is no JSON, and with 415 when it says so itself", async () => {
    const as = await payer();
    const headers = { "content-type": "application/json" };
    expect((await api.send("POST", PATH, { as, body: "{", headers })).status).toBe(400);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await api.send("POST", PATH, { as, body: "type=pro", headers: form })).status).toBe(
      415,
    );
  });
});

describe("a checkout", () => {
  test("has the tier, the seats and the add-ons as line items, and names the account", async () => {
    const caller = await payer();
    const sent = {
      ...PRO,
      quantity: 5,
      server_quantity: 2,
      sandbox_quantity: 7,
      // The provider fills the braces in; strictly read, they make it a template and no URI.
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

  test("without numbers is for one seat and no add-on; null and 0 add none either", async () => {
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

  test("takes null for an absent number of seats and for absent addresses", async () => {
    const nulls = { quantity: null, success_url: null, cancel_url: null };
    const caller = await payer();
    const body = JSON.stringify({ ...PRO, ...nulls });
    const headers = { "content-type": "application/json" };
    const answer = await api.send("POST", PATH, { as: caller, body, headers });
    expect([answer.status, answer.body.status]).toEqual([200, "pending"]);
  });

  test.each([
    ["pro", "monthly", "19.99", "usd", "$19.99"],
    ["pro", "yearly", "4900", "jpy", "¥4,900"],
    ["enterprise", "monthly", "12.340", "kwd", "KWD\u00a012.340"],
  ])("for %s, %s is due with %s %s", async (type, cycle, amount_decimal, currency, amount) => {
    const { body } = await upgrade({ type, cycle }, await payer());
    expect(body).toMatchObject({ amount_decimal, currency, amount });
  });

  test("has no amount where the provider tells none", async () => {
    const quiet = { id: "cs_test_quiet", url: "https://checkout.example.com/q", currency: "usd" };
    provider.react(() => Response.json({ ...quiet, amount_total: null }));
    const { body } = await upgrade(PRO, await payer());
    expect(body).toMatchObject({ status: "pending", ...NO_AMOUNT });
  });

  test("is not needed for the free tier: nothing is asked of the provider", async () => {
    const before = provider.received.length;
    const { body } = await upgrade({ ...PRO, type: "free" }, await payer());
    expect(body).toEqual({ ...NOTHING, status: "ok" });
    expect(provider.received).toHaveLength(before);
  });
});

const declined = () => errorAnswer(402, { type: "card_error", message: "Your card was declined." });
const failing = () => errorAnswer(500, { type: "api_error", message: "Something broke." });

describe("the same upgrade asked again", () => {
  test("returns the same open session with the amount that the provider tells now", async () => {
    const caller = await payer();
    const first = await upgrade(PRO, caller);
    const openings = provider.openings.length;
    const id = sessionAt(first.body.checkout_url);
    const session = provider.sessions.get(id);
    if (session) provider.sessions.set(id, { ...session, amount_total: 1_499 });
    const again = await upgrade(PRO, caller);
    expect(again.body).toEqual({
      ...first.body,
      amount_decimal: "14.99",
      amount: "$14.99",
    });
    expect(provider.openings).toHaveLength(openings);
  });

  test("returns the same session when the provider cannot tell for a moment whether it is open", async () => {
    const caller = await payer();
    const first = await upgrade(PRO, caller);
    provider.react(failing);
    expect((await upgrade(PRO, caller)).body).toEqual(first.body);
  });

  test("is an error when the provider now refuses it, and 500 when it fails for good", async () => {
    const caller = await payer();
    await checkoutUrl(PRO, caller);
    provider.react(declined, declined);
    expect((await upgrade(PRO, caller)).body.status).toBe("error");
    await checkoutUrl(PRO, caller);
    provider.react(failing, failing, failing, failing);
    expect((await upgrade(PRO, caller)).body.slug).toBe("billing-provider-error");
  });

  test("is another upgrade when anything of it differs, and both stay", async () => {
    const caller = await payer();
    const bodies = [
      PRO,
      { ...PRO, quantity: 2 },
      { ...PRO, server_quantity: 1 },
      { ...PRO, cycle: "yearly" },
      { ...PRO, type: "enterprise" },
      { ...PRO, success_url: `${ORIGIN}/` },
      { ...PRO, cancel_url: `${ORIGIN}/` },
    ];
    const urls: string[] = [];
    for (const body of bodies) urls.push(await checkoutUrl(body, caller));
    expect(new Set(urls).size).toBe(bodies.length);
    for (const [index, body] of bodies.entries()) {
      expect(await checkoutUrl(body, caller)).toBe(urls[index] as string);
    }
  });

  test("by another account is a session of that account", async () => {
    expect(await checkoutUrl(PRO, await payer())).not.toBe(await checkoutUrl(PRO, await payer()));
  });

  test("opens a new session when the first has expired at the provider or by the clock", async () => {
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    provider.expire(sessionAt(first));
    const second = await checkoutUrl(PRO, caller);
    expect(second).not.toBe(first);
    await api.sql`
      UPDATE billing_sessions SET expires_at = now() - interval '1 second'
      WHERE account_id = ${caller.userId}`;
    provider.react(() => errorAnswer(500, { type: "api_error", message: "Oops." }));
    const third = await checkoutUrl(PRO, caller);
    expect(new Set([first, second, third]).size).toBe(3);
  });

  test("opens a new session when the provider no longer knows the first", async () => {
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    provider.sessions.delete(sessionAt(first));
    expect(await checkoutUrl(PRO, caller)).not.toBe(first);
  });

  test("opens a new session for the same customer when the first was paid", async () => {
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
    const customer = provider.complete(sessionAt(first));
    expect(await checkoutUrl(PRO, caller)).not.toBe(first);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
  });

  test("by many at once opens one session, for all of them the same", async () => {
    const caller = await payer();
    const before = provider.openings.length;
    const letGo = provider.hold();
    const asked = Array.from({ length: 8 }, () => checkoutUrl(PRO, caller));
    await provider.hasReceived(provider.received.length + 1);
    letGo();
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(provider.openings).toHaveLength(before + 1);
  });

  test("continues an attempt that broke off, so that the provider opens no second session", async () => {
    const caller = await payer();
    // The provider has opened the session, but its answers never arrive.
    const breakOff: Reaction = () => new Response("cut off on the way", { status: 200 });
    const opening = provider.openings.length;
    provider.react(breakOff);
    const failed = await upgrade(PRO, caller);
    expect([failed.status, failed.body.slug]).toEqual([500, "billing-provider-error"]);
    await checkoutUrl(PRO, caller);
    const keys = keysSince(opening);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1] as string);
  });

  test("takes over from a process that died at it", async () => {
    const caller = await payer();
    await checkoutUrl(PRO, caller);
    // What a process leaves that dies before the provider's answer, some time later.
    await api.sql`
      UPDATE billing_sessions SET session_id = NULL, url = NULL, expires_at = NULL,
        amount_total = NULL, currency = NULL, claimed_until = now() - interval '1 second'
      WHERE account_id = ${caller.userId}`;
    const sessions = provider.sessions.size;
    await checkoutUrl(PRO, caller);
    expect(provider.sessions.size).toBe(sessions);
  });
});

describe("beside other processes on the same database", () => {
  test("the same upgrade is the same session, one after the other and at once", async () => {
    const other = await startApiProcess({ env: environment(provider), beside: api });
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    expect(await checkoutUrl(PRO, caller, other)).toBe(first);

    const before = provider.openings.length;
    const letGo = provider.hold();
    const body = { ...PRO, quantity: 3 };
    const asked = [api, other, api, other].map((at) => checkoutUrl(body, caller, at));
    await provider.hasReceived(provider.received.length + 1);
    letGo();
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(provider.openings).toHaveLength(before + 1);
  });
});

describe("the customer of an account", () => {
  test("is learnt from an earlier upgrade that was paid, and used for every other", async () => {
    const caller = await payer();
    const paid = await checkoutUrl(PRO, caller);
    await checkoutUrl({ ...PRO, quantity: 2 }, caller);
    const customer = provider.complete(sessionAt(paid));
    await checkoutUrl({ ...PRO, quantity: 3 }, caller);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
    await checkoutUrl({ ...PRO, quantity: 4 }, caller);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
  });

  test("is forgotten when the provider has deleted it", async () => {
    const caller = await payer();
    provider.complete(sessionAt(await checkoutUrl(PRO, caller)));
    await checkoutUrl({ ...PRO, quantity: 2 }, caller);
    provider.customers.delete(provider.lastOpening.form["customer"] as string);
    await checkoutUrl({ ...PRO, quantity: 3 }, caller);
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
  });

  test("is never another account's", async () => {
    provider.complete(sessionAt(await checkoutUrl(PRO, await payer())));
    await checkoutUrl(PRO, await payer());
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
  });
});

describe("when the provider", () => {
  test.each([
    ["declines", declined, "Your card was declined."],
    ["limits the rate", () => errorAnswer(429, { code: "rate_limit", message: "x" }), "try again"],
    ["gives no reason", () => errorAnswer(400, { type: "invalid_request_error" }), "refused"],
    ["refuses the key", () => errorAnswer(401, { message: "Invalid key" }), "credentials"],
  ])(
    "%s, the result is an error with the reason, and a retry is a new attempt",
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

  test("does not know a price, the result is an error with the reason", async () => {
    const { status, body } = await upgrade({ type: "enterprise", cycle: "yearly" }, await payer());
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "error", error: "No such price: 'price_retired'" });
  });

  test("fails for a moment, the upgrade succeeds by the same idempotency key", async () => {
    const opening = provider.openings.length;
    provider.react(failing, failing);
    await checkoutUrl(PRO, await payer());
    const keys = keysSince(opening);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test("keeps failing, it is 500 without the provider's words, and the next one works", async () => {
    const caller = await payer();
    provider.react(failing, failing, failing);
    const answer = await upgrade(PRO, caller);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-provider-error"]);
    expect(answer.text).not.toContain("Something broke.");
    await checkoutUrl(PRO, caller);
  });

  test.each(["5", '"text"', "null", "[]", "<html>", ""])(
    "answers %p, it is 500 and the service lives on",
    async (text) => {
      const caller = await payer();
      provider.react(() => new Response(text));
      const answer = await upgrade(PRO, caller);
      expect([answer.status, answer.body.slug]).toEqual([500, "billing-provider-error"]);
      await checkoutUrl(PRO, caller);
    },
  );

  test("is away, it is 500; the free tier needs it not", async () => {
    const gone = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
    await gone.stop();
    const lonely = await startApi({ env: environment(gone), beside: api });
    const caller = await payer();
    const answer = await upgrade(PRO, caller, {}, lonely);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-provider-error"]);
    const free = await upgrade({ ...PRO, type: "free" }, caller, {}, lonely);
    expect(free.body.status).toBe("ok");
  });
});

test("a provider that never answers is given up, by whoever asked it and whoever waits for them", async () => {
  for (const { status, body } of await unanswered) {
    expect([status, body.slug]).toEqual([500, "billing-provider-error"]);
  }
});

describe("without configuration", () => {
  test("an upgrade that needs a checkout is 500 billing-not-configured, the free tier is ok", async () => {
    const bare = await startApi({ beside: api });
    const caller = await payer();
    const answer = await upgrade(PRO, caller, {}, bare);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-not-configured"]);
    const free = await upgrade({ ...PRO, type: "free" }, caller, {}, bare);
    expect([free.status, free.body.status]).toEqual([200, "ok"]);
  });

  test("of a price, only what needs it is 500 billing-not-configured", async () => {
    const caller = await payer();
    const before = provider.received.length;
    const answer = await upgrade({ ...PRO, cycle: "yearly", server_quantity: 1 }, caller);
    expect([answer.status, answer.body.slug]).toEqual([500, "billing-not-configured"]);
    expect(provider.received).toHaveLength(before);
    await checkoutUrl({ ...PRO, cycle: "yearly" }, caller);
  });

  test("of an allowlist, nothing with an origin is trusted", async () => {
    const env = { ...environment(provider), BILLING_ORIGINS: undefined };
    const closed = await startApi({ env, beside: api });
    const answer = await upgrade(PRO, await payer(), { origin: ORIGIN }, closed);
    expect(answer.body.slug).toBe("untrusted-billing-origin");
    await checkoutUrl(PRO, await payer(), closed);
  });
});

test("the secret key is in no answer and in nothing that the service prints", async () => {
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

  // The service did print about these requests, and it did so without the key.
  expect(noisy.server.logs()).toContain("billing-provider-error");
  expect(noisy.server.logs()).toContain("status 402");
  expect(noisy.server.logs()).not.toContain(SECRET_KEY);
  for (const { text } of answers) expect(text).not.toContain(SECRET_KEY);
});

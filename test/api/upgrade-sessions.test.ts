import { describe, expect, test } from "bun:test";
import { startApi } from "../../support/api/api.ts";
import { environment, ORIGIN, PRO, sharedBilling } from "../../support/api/billing.ts";
import {
  declined,
  errorAnswer,
  failing,
  type Reaction,
} from "../../support/api/billing-provider.ts";

const { api, provider, payer, upgrade, checkoutUrl, keysSince } = await sharedBilling();

function sessionAt(url: string): string {
  return /cs_test_\w+/.exec(url)?.[0] as string;
}

describe("a repeated upgrade", () => {
  test("a repeated upgrade returns the same open session with its current amount", async () => {
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

  test("a repeated upgrade returns the same session when the provider briefly fails", async () => {
    const caller = await payer();
    const first = await upgrade(PRO, caller);
    provider.react(failing);
    expect((await upgrade(PRO, caller)).body).toEqual(first.body);
  });

  test("a repeated upgrade has status error when the provider now refuses it, and returns 500 when the provider keeps failing", async () => {
    const caller = await payer();
    await checkoutUrl(PRO, caller);
    provider.react(declined, declined);
    expect((await upgrade(PRO, caller)).body.status).toBe("error");
    await checkoutUrl(PRO, caller);
    provider.react(failing, failing, failing, failing);
    expect((await upgrade(PRO, caller)).body.slug).toBe("billing-provider-error");
  });

  test("upgrades that differ in any field have separate sessions, and all stay open", async () => {
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

  test("the same upgrade of two accounts opens two sessions", async () => {
    expect(await checkoutUrl(PRO, await payer())).not.toBe(await checkoutUrl(PRO, await payer()));
  });

  test("a repeated upgrade opens a new session after the first expired at the provider or by the clock", async () => {
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

  test("a repeated upgrade opens a new session when the provider no longer knows the first", async () => {
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    provider.sessions.delete(sessionAt(first));
    expect(await checkoutUrl(PRO, caller)).not.toBe(first);
  });

  test("a repeated upgrade opens a new session for the same customer after the first was paid", async () => {
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
    const customer = provider.complete(sessionAt(first));
    expect(await checkoutUrl(PRO, caller)).not.toBe(first);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
  });

  test("concurrent requests for the same upgrade open one session and all return it", async () => {
    const caller = await payer();
    const before = provider.openings.length;
    const release = provider.hold();
    const requests = Array.from({ length: 8 }, () => checkoutUrl(PRO, caller));
    await provider.hasReceived(provider.received.length + 1);
    release();
    expect(new Set(await Promise.all(requests)).size).toBe(1);
    expect(provider.openings).toHaveLength(before + 1);
  });

  test("an upgrade repeats an interrupted attempt, so that the provider opens no second session", async () => {
    const caller = await payer();
    // The provider has opened the session, but its response is cut off.
    const cutOff: Reaction = () => new Response("cut off on the way", { status: 200 });
    const opening = provider.openings.length;
    provider.react(cutOff);
    const failed = await upgrade(PRO, caller);
    expect([failed.status, failed.body.slug]).toEqual([500, "billing-provider-error"]);
    await checkoutUrl(PRO, caller);
    const keys = keysSince(opening);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1] as string);
  });

  test("an upgrade repeats the attempt of a process that died", async () => {
    const caller = await payer();
    await checkoutUrl(PRO, caller);
    // The row of a process that died before the provider answered, after its claim expired.
    await api.sql`
      UPDATE billing_sessions SET session_id = NULL, url = NULL, expires_at = NULL,
        amount_total = NULL, currency = NULL, claimed_until = now() - interval '1 second'
      WHERE account_id = ${caller.userId}`;
    const sessions = provider.sessions.size;
    await checkoutUrl(PRO, caller);
    expect(provider.sessions.size).toBe(sessions);
  });
});

describe("several processes on one database", () => {
  test("processes on one database share the session of an upgrade, sequentially and concurrently", async () => {
    const other = await startApi({ env: environment(provider), beside: api });
    const caller = await payer();
    const first = await checkoutUrl(PRO, caller);
    expect(await checkoutUrl(PRO, caller, other)).toBe(first);

    const before = provider.openings.length;
    const release = provider.hold();
    const body = { ...PRO, quantity: 3 };
    const requests = [api, other, api, other].map((at) => checkoutUrl(body, caller, at));
    await provider.hasReceived(provider.received.length + 1);
    release();
    expect(new Set(await Promise.all(requests)).size).toBe(1);
    expect(provider.openings).toHaveLength(before + 1);
  });
});

describe("the customer of an account", () => {
  test("a customer created by a paid upgrade is used for all later upgrades of the account", async () => {
    const caller = await payer();
    const paid = await checkoutUrl(PRO, caller);
    await checkoutUrl({ ...PRO, quantity: 2 }, caller);
    const customer = provider.complete(sessionAt(paid));
    await checkoutUrl({ ...PRO, quantity: 3 }, caller);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
    await checkoutUrl({ ...PRO, quantity: 4 }, caller);
    expect(provider.lastOpening.form["customer"]).toBe(customer);
  });

  test("a customer that the provider deleted is no longer used", async () => {
    const caller = await payer();
    provider.complete(sessionAt(await checkoutUrl(PRO, caller)));
    await checkoutUrl({ ...PRO, quantity: 2 }, caller);
    provider.customers.delete(provider.lastOpening.form["customer"] as string);
    await checkoutUrl({ ...PRO, quantity: 3 }, caller);
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
  });

  test("a customer is never used for another account", async () => {
    provider.complete(sessionAt(await checkoutUrl(PRO, await payer())));
    await checkoutUrl(PRO, await payer());
    expect(provider.lastOpening.form["customer"]).toBeUndefined();
  });
});

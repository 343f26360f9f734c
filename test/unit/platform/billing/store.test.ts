import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { Session } from "../../../../src/platform/billing/session.ts";
import { BillingStore, type StoredSession } from "../../../../src/platform/billing/store.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();
const store = new BillingStore(sql);
const HOUR_MS = 3_600_000;

const fingerprintOf = (text: string) =>
  new Uint8Array(new Bun.CryptoHasher("sha256").update(text).digest());
const upgrade = (of = "pro") => ({ accountId: randomUUID(), fingerprint: fingerprintOf(of) });
const session = (id: string): Session & { readonly url: string } => ({
  id,
  url: `https://pay.example.com/${id}`,
  isOpen: true,
  due: null,
  customerId: null,
  expiresAt: new Date(Date.now() + HOUR_MS),
});
const idOf = (stored: StoredSession | null) => stored?.id;

describe("the session of an upgrade", () => {
  test("is claimed by one request at a time, and by the next one once the claim has ended", async () => {
    const key = upgrade();
    const attempt = (await store.claim(key, HOUR_MS)) as string;
    expect(await store.claim(key, HOUR_MS)).toBeNull();
    await store.release(key, attempt);
    expect(await store.claim(key, HOUR_MS)).toBe(attempt);
    await store.abandon(key, attempt);
    expect(await store.claim(key, HOUR_MS)).not.toBe(attempt);
  });

  test("is that of the first attempt which has stored one, however late others are", async () => {
    const key = upgrade();
    const attempt = (await store.claim(key, HOUR_MS)) as string;
    await store.saveSession(key, attempt, session("first"));
    await store.saveSession(key, attempt, session("late"));
    await store.abandon(key, attempt);
    expect(idOf(await store.session(key))).toBe("first");
    expect(await store.claim(key, HOUR_MS)).toBeNull();
  });

  test("is no other one's", async () => {
    const key = upgrade();
    const other = { ...key, fingerprint: fingerprintOf("enterprise") };
    await store.saveSession(key, randomUUID(), session("pro"));
    expect(await store.session(other)).toBeNull();
    expect(await store.session({ ...upgrade(), fingerprint: key.fingerprint })).toBeNull();
    await store.saveSession(other, randomUUID(), session("enterprise"));
    await store.resetSession(other);
    await store.deleteSession(key.accountId, "enterprise");
    expect(idOf(await store.session(key))).toBe("pro");
  });
});

test("an account keeps its first customer, and shares it with no other account", async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  await store.saveCustomer(account, "first");
  await store.saveCustomer(account, "second");
  await store.saveCustomer(other, "other");
  expect(await store.customer(account)).toBe("first");
  await store.deleteCustomer(account, "other");
  await store.deleteCustomer(other, "first");
  expect([await store.customer(account), await store.customer(other)]).toEqual(["first", "other"]);
});

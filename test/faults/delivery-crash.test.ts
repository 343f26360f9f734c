import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { FAILPOINTS } from "../../src/shared/failpoints.ts";
import { type Answer, startApi, startApiProcess } from "../../support/api/api.ts";
import { addInputRequest, lockTable } from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";

setDefaultTimeout(120_000);

const KILLED = 128 + 9;
const redis = await startRedis();
const healthy = await startApi();
const healthyWithRedis = await startApi({ beside: healthy, env: { REDIS_URL: redis.url } });
const { sql } = healthy;
const member = await healthy.user();
const project = await healthy.project(member);

/** Starts a process on the same database that dies at the failpoint. */
const startCrashing = (point: string, env: Record<string, string> = {}) =>
  startApiProcess({ beside: healthy, env: { TESSERA_FAILPOINTS: point, ...env } });

const deliver = (api: typeof healthy, webhook: TestWebhook, key: string) =>
  api.send("POST", webhook.path, {
    headers: { ...webhook.headers, "idempotency-key": key },
    json: { key },
  });

/** Retries while the answer is retryable. Returns the last answer and the states before it. */
async function retry(send: () => Promise<Answer>): Promise<{ states: string[]; last: Answer }> {
  const states: string[] = [];
  for (;;) {
    const last = await send();
    if (!last.body.idempotency?.retryable) return { states, last };
    states.push(last.body.idempotency.state);
    await Bun.sleep(200);
  }
}

const points = (prefix: string) => FAILPOINTS.filter((point) => point.startsWith(prefix));
/** At these failpoints, the transaction has committed. */
const COMMITTED = [
  "delivery.committed",
  "delivery.released",
  "answer.committed",
  "answer.released",
];

describe("a process killed during a delivery", () => {
  for (const point of points("delivery.")) {
    test(`a delivery killed at ${point} is stored completely or not at all, and a retry leaves one event`, async () => {
      const webhook = await addWebhook(sql, project);
      const crashing = await startCrashing(point);
      const key = randomUUID();
      await expect(deliver(crashing, webhook, key)).rejects.toThrow();
      expect(await crashing.server.exited).toBe(KILLED);
      const { last } = await retry(() => deliver(healthy, webhook, key));
      expect(last.status).toBe(200);
      if (COMMITTED.includes(point)) expect(last.body.duplicate).toBe(true);
      expect(last.body.payload).toEqual({ key });
      expect(await storedRows(sql, webhook)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
      expect(await orphanRows(sql)).toBe(0);
    });
  }

  test("a retry after a kill is in progress until the lease of the killed process expires in Redis", async () => {
    const webhook = await addWebhook(sql, project);
    const crashing = await startCrashing("delivery.leased", { REDIS_URL: redis.url });
    const key = randomUUID();
    await expect(deliver(crashing, webhook, key)).rejects.toThrow();
    const { states, last } = await retry(() => deliver(healthyWithRedis, webhook, key));
    expect(new Set(states)).toEqual(new Set(["in_progress"]));
    expect([last.status, last.body.duplicate]).toEqual([200, false]);
    expect(await storedRows(sql, webhook)).toMatchObject({ events: 1, messages: 1, runs: 1 });
  });

  test("a retry after a kill returns the committed delivery at once, even while the lease is held", async () => {
    const webhook = await addWebhook(sql, project);
    const crashing = await startCrashing("delivery.committed", { REDIS_URL: redis.url });
    const key = randomUUID();
    await expect(deliver(crashing, webhook, key)).rejects.toThrow();
    const again = await deliver(healthyWithRedis, webhook, key);
    expect([again.status, again.body.duplicate]).toEqual([200, true]);
    const headers = { ...webhook.headers, "idempotency-key": key };
    const other = await healthyWithRedis.send("POST", webhook.path, { headers, json: "other" });
    expect(other.body.idempotency.state).toBe("payload_mismatch");
  });

  for (const key of [randomUUID(), null]) {
    test(`a delivery ${key ? "with" : "without"} a key, killed while a statement runs, is never stored in part`, async () => {
      const webhook = await addWebhook(sql, project);
      const crashing = await startApiProcess({ beside: healthy });
      const runs = await lockTable(sql, "runs");
      const headers = { ...webhook.headers, ...(key === null ? {} : { "idempotency-key": key }) };
      const sent = crashing.send("POST", webhook.path, { headers, json: 1 });
      await Promise.all([runs.waiting(1), crashing.contract()]);
      crashing.server.kill("SIGKILL");
      await expect(sent).rejects.toThrow();
      await runs.release();
      const { last } = await retry(() => healthy.send("POST", webhook.path, { headers, json: 1 }));
      expect(last.status).toBe(200);
      const { events, messages, runs: runCount } = await storedRows(sql, webhook);
      expect([messages, runCount]).toEqual([events, events]);
      // Without a key, the retry is stored again even if the first was stored.
      expect(events).toBeLessThanOrEqual(key === null ? 2 : 1);
      expect(await orphanRows(sql)).toBe(0);
    });
  }
});

describe("a process killed while it answers an input request", () => {
  for (const point of points("answer.")) {
    test(`an answer killed at ${point} is stored completely or not at all, and a retry leaves one answer`, async () => {
      const conversation = await addConversation(sql, member, project);
      const request = await addInputRequest(sql, conversation);
      const crashing = await startCrashing(point);
      const body = { values: { note: "a" } };
      await expect(crashing.post(request.path, body, member)).rejects.toThrow();
      expect(await crashing.server.exited).toBe(KILLED);
      const { last } = await retry(() => healthy.post(request.path, body, member));
      expect([last.status, last.body.duplicate]).toEqual([200, COMMITTED.includes(point)]);
      const [row] = await sql`
        SELECT r.status, count(a.id)::int AS answers FROM input_requests r
        LEFT JOIN input_responses a ON a.input_request_id = r.id
        WHERE r.id = ${request.id} GROUP BY r.id`;
      expect(row).toEqual({ status: "submitted", answers: 1 });
    });
  }
});

test("an unknown failpoint prevents the service from starting", async () => {
  await expect(startCrashing("delivery.imagined")).rejects.toThrow("delivery.imagined");
});

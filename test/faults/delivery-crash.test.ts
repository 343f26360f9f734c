import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { FAILPOINTS } from "../../src/shared/failpoints.ts";
import { addConversation } from "../../support/content.ts";
import { startRedis } from "../../support/redis.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";
import { type Answer, startApi, startApiProcess } from "../support/api.ts";
import { addInputRequest, lockTable } from "../support/input-requests.ts";

setDefaultTimeout(120_000);

const KILLED = 128 + 9;
const redis = await startRedis();
const survivor = await startApi();
const leasing = await startApi({ beside: survivor, env: { REDIS_URL: redis.url } });
const { sql } = survivor;
const member = await survivor.user();
const project = await survivor.project(member);

/** A process beside the survivor that dies at the step. */
const startMortal = (point: string, env: Record<string, string> = {}) =>
  startApiProcess({ beside: survivor, env: { TESSERA_FAILPOINTS: point, ...env } });

const deliver = (api: typeof survivor, webhook: TestWebhook, key: string) =>
  api.send("POST", webhook.path, {
    headers: { ...webhook.headers, "idempotency-key": key },
    json: { key },
  });

/** Repeats what it is told to repeat, and returns the first other answer and what came before. */
async function persist(send: () => Promise<Answer>): Promise<{ states: string[]; last: Answer }> {
  const states: string[] = [];
  for (;;) {
    const last = await send();
    if (!last.body.idempotency?.retryable) return { states, last };
    states.push(last.body.idempotency.state);
    await Bun.sleep(200);
  }
}

const points = (prefix: string) => FAILPOINTS.filter((point) => point.startsWith(prefix));
/** From these steps on, the delivery has been kept. */
const KEPT = ["delivery.committed", "delivery.released", "answer.committed"];

describe("a process that is killed while it takes a delivery", () => {
  for (const point of points("delivery.")) {
    test(`at ${point} leaves it whole or not at all, and a retry ends in one event`, async () => {
      const webhook = await addWebhook(sql, project);
      const mortal = await startMortal(point);
      const key = randomUUID();
      await expect(deliver(mortal, webhook, key)).rejects.toThrow();
      expect(await mortal.server.exited).toBe(KILLED);
      const { last } = await persist(() => deliver(survivor, webhook, key));
      expect(last.status).toBe(200);
      if (KEPT.includes(point)) expect(last.body.duplicate).toBe(true);
      expect(last.body.payload).toEqual({ key });
      expect(await storedRows(sql, webhook)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
      expect(await orphanRows(sql)).toBe(0);
    });
  }

  test("keeps its lease in Redis until that expires, and the retry waits for it", async () => {
    const webhook = await addWebhook(sql, project);
    const mortal = await startMortal("delivery.leased", { REDIS_URL: redis.url });
    const key = randomUUID();
    await expect(deliver(mortal, webhook, key)).rejects.toThrow();
    const { states, last } = await persist(() => deliver(leasing, webhook, key));
    expect(new Set(states)).toEqual(new Set(["in_progress"]));
    expect([last.status, last.body.duplicate]).toEqual([200, false]);
    expect(await storedRows(sql, webhook)).toMatchObject({ events: 1, messages: 1, runs: 1 });
  });

  test("after it has kept the delivery is answered from it at once, lease or not", async () => {
    const webhook = await addWebhook(sql, project);
    const mortal = await startMortal("delivery.committed", { REDIS_URL: redis.url });
    const key = randomUUID();
    await expect(deliver(mortal, webhook, key)).rejects.toThrow();
    const again = await deliver(leasing, webhook, key);
    expect([again.status, again.body.duplicate]).toEqual([200, true]);
    const headers = { ...webhook.headers, "idempotency-key": key };
    const other = await leasing.send("POST", webhook.path, { headers, json: "other" });
    expect(other.body.idempotency.state).toBe("payload_mismatch");
  });

  for (const key of [randomUUID(), null]) {
    test(`while the database works on one ${key ? "with" : "without"} a key tears nothing`, async () => {
      const webhook = await addWebhook(sql, project);
      const mortal = await startApiProcess({ beside: survivor });
      const runs = await lockTable(sql, "runs");
      const headers = { ...webhook.headers, ...(key === null ? {} : { "idempotency-key": key }) };
      const sent = mortal.send("POST", webhook.path, { headers, json: 1 });
      await Promise.all([runs.waiting(1), mortal.contract()]);
      mortal.server.kill("SIGKILL");
      await expect(sent).rejects.toThrow();
      await runs.release();
      const { last } = await persist(() =>
        survivor.send("POST", webhook.path, { headers, json: 1 }),
      );
      expect(last.status).toBe(200);
      const { events, messages, runs: runCount } = await storedRows(sql, webhook);
      expect([messages, runCount]).toEqual([events, events]);
      // Without a key the retry is new, whether or not the first was kept.
      expect(events).toBeLessThanOrEqual(key === null ? 2 : 1);
      expect(await orphanRows(sql)).toBe(0);
    });
  }
});

describe("a process that is killed while it takes an answer", () => {
  for (const point of points("answer.")) {
    test(`at ${point} leaves it whole or not at all, and a retry stores it once`, async () => {
      const conversation = await addConversation(sql, member, project);
      const request = await addInputRequest(sql, conversation);
      const mortal = await startMortal(point);
      const body = { values: { note: "a" } };
      await expect(mortal.post(request.path, body, member)).rejects.toThrow();
      expect(await mortal.server.exited).toBe(KILLED);
      const { last } = await persist(() => survivor.post(request.path, body, member));
      expect([last.status, last.body.duplicate]).toEqual([200, KEPT.includes(point)]);
      const [row] = await sql`
        SELECT r.status, count(a.id)::int AS answers FROM input_requests r
        LEFT JOIN input_responses a ON a.input_request_id = r.id
        WHERE r.id = ${request.id} GROUP BY r.id`;
      expect(row).toEqual({ status: "submitted", answers: 1 });
    });
  }
});

test("a step that does not exist is refused when the service starts", async () => {
  await expect(startMortal("delivery.imagined")).rejects.toThrow("delivery.imagined");
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApi } from "../../support/api/api.ts";
import { type Fault, FaultDuring } from "../../support/faults.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";
import { sendDeliveries } from "./deliveries.ts";

needs("redis-server");

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const api = await startApi({ env });
const beside = await startApi({ beside: api, env });
const { sql } = api;
const project = await api.project(await api.user());

const faults: Readonly<Record<string, () => Promise<Fault | undefined>>> = {
  killed: () => redis.kill(),
  frozen: async () => redis.pause(),
  "restarted empty": () => redis.restart().then(() => undefined),
};

describe("deliveries during a Redis failure", () => {
  for (const [fault, inject] of Object.entries(faults)) {
    test(`no delivery is lost or stored twice when Redis is ${fault}`, async () => {
      const webhook = await addWebhook(sql, project);
      const urls = [api.url, beside.url];
      await using failure = new FaultDuring(inject);
      const tally = await sendDeliveries({
        ...{ urls, path: webhook.path, headers: webhook.headers },
        ...{ deliveries: 300, repeatShare: 0.2, clients: 12 },
        onProgress(acknowledged) {
          if (acknowledged === 100) failure.begin();
          if (acknowledged === 250) void failure.end();
        },
      });
      expect(tally.contradictions).toBe(0);
      // The only refusals are retryable conflicts with a delivery that is still running.
      const names = [...tally.answers.keys()].filter((name) => name !== "409 in_progress");
      expect(names).toEqual(["200"]);
      const { keys } = tally;
      expect(await storedRows(sql, webhook)).toEqual({
        events: keys,
        messages: keys,
        runs: keys,
        keys,
      });
      expect(await orphanRows(sql)).toBe(0);
    });
  }

  test("without Redis, concurrent deliveries through two processes are stored once", async () => {
    await using _killed = await redis.kill();
    const webhook = await addWebhook(sql, project);
    const headers = { ...webhook.headers, "idempotency-key": randomUUID() };
    const answers = await Promise.all(
      [api, beside, api, beside, api, beside].map((service) =>
        service.send("POST", webhook.path, { headers, json: 1 }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(await storedRows(sql, webhook)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
  });
});

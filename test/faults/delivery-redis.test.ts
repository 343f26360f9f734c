import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApi } from "../../support/api/api.ts";
import { sendDeliveries } from "../../support/deliveries.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";

needs("redis-server");

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const api = await startApi({ env });
const beside = await startApi({ beside: api, env });
const { sql } = api;
const project = await api.project(await api.user());

const faults = {
  killed: { inject: () => redis.kill(), recover: () => redis.restart() },
  frozen: { inject: async () => redis.pause(), recover: async () => redis.resume() },
  "restarted empty": { inject: () => redis.restart(), recover: async () => {} },
};

describe("deliveries during a Redis failure", () => {
  for (const [fault, { inject, recover }] of Object.entries(faults)) {
    test(`no delivery is lost or stored twice when Redis is ${fault}`, async () => {
      const webhook = await addWebhook(sql, project);
      const urls = [api.url, beside.url];
      const faultsInjected: Promise<void>[] = [];
      const tally = await sendDeliveries({
        ...{ urls, path: webhook.path, headers: webhook.headers },
        ...{ deliveries: 300, repeatShare: 0.2, clients: 12 },
        onProgress(acknowledged) {
          if (acknowledged === 100) faultsInjected.push(inject());
          if (acknowledged === 250) faultsInjected.push(recover());
        },
      });
      await Promise.all(faultsInjected);
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
    await redis.kill();
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
    await redis.restart();
  });
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { run } from "../../support/deliveries.ts";
import { startRedis } from "../../support/redis.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";
import { startApi } from "../support/api.ts";

setDefaultTimeout(120_000);

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const api = await startApi({ env });
const beside = await startApi({ beside: api, env });
const { sql } = api;
const project = await api.project(await api.user());

const faults = {
  killed: { strike: () => redis.kill(), mend: () => redis.restart() },
  frozen: { strike: async () => redis.pause(), mend: async () => redis.resume() },
  "restarted empty": { strike: () => redis.restart(), mend: async () => {} },
};

describe("a Redis that is", () => {
  for (const [fault, { strike, mend }] of Object.entries(faults)) {
    test(`${fault} in the middle of deliveries loses none and doubles none`, async () => {
      const webhook = await addWebhook(sql, project);
      const urls = [api.url, beside.url];
      const happening: Promise<void>[] = [];
      const tally = await run({
        ...{ urls, path: webhook.path, headers: webhook.headers },
        ...{ deliveries: 600, repeatShare: 0.2, clients: 12 },
        onProgress(acknowledged) {
          if (acknowledged === 200) happening.push(strike());
          if (acknowledged === 500) happening.push(mend());
        },
      });
      await Promise.all(happening);
      expect(tally.contradictions).toBe(0);
      // Nobody is turned away: a delivery that is being taken is all there is to wait for.
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

  test("away leaves it to the database that a delivery in two processes is kept once", async () => {
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

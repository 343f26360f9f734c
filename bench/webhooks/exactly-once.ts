/**
 * Deliveries with repetitions, exactly once through two processes while servers fail.
 *
 * `bun bench/webhooks/exactly-once.ts [deliveries] [share of repetitions]`. Both processes share a
 * database and a Redis; one process is killed and replaced, Redis is frozen and restarted empty.
 * Fails unless there is exactly one event a key and none is lost that was acknowledged.
 */

import { cleanUp } from "../../support/cleanup.ts";
import { run } from "../../support/deliveries.ts";
import { startRedis } from "../../support/redis.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";
import { type ApiOptions, startApiProcess } from "../../test/support/api.ts";

const CLIENTS = 24;
const [deliveries = 10_000, repeatShare = 0.2] = process.argv.slice(2).map(Number);

try {
  const redis = await startRedis();
  const env = { REDIS_URL: redis.url };
  const first = await startApiProcess({ env });
  const options: ApiOptions = { env, beside: first };
  const second = await startApiProcess(options);
  const { sql } = first;
  const webhook = await addWebhook(sql, await first.project(await first.user()));
  const urls = [first.url, second.url];

  const faults: Array<[at: number, happen: () => Promise<void>]> = [
    [
      0.25,
      async () => {
        second.server.kill("SIGKILL");
        await second.server.exited;
        urls[1] = (await startApiProcess(options)).url;
      },
    ],
    [0.5, async () => redis.pause()],
    [0.6, async () => redis.resume()],
    [0.75, () => redis.restart()],
  ];
  const happening: Promise<void>[] = [];
  const tally = await run({
    ...{ urls, deliveries, repeatShare, clients: CLIENTS },
    ...{ path: webhook.path, headers: webhook.headers },
    onProgress(acknowledged) {
      for (const [at, happen] of faults) {
        if (acknowledged === Math.floor(deliveries * at)) happening.push(happen());
      }
    },
  });
  await Promise.all(happening);

  const kept = await storedRows(sql, webhook);
  const rows = await sql<{ key: string; id: string }[]>`
    SELECT idempotency_key AS key, id FROM webhook_events
    WHERE webhook_definition_id = ${webhook.id}`;
  const ids = new Map(rows.map(({ key, id }) => [key, id]));
  const lost = [...tally.events].filter(([key, event]) => ids.get(key) !== event).length;
  const twiceFresh = [...tally.fresh.values()].filter((count) => count > 1).length;
  const figures = {
    deliveries: tally.deliveries,
    keys: tally.keys,
    requests: tally.requests,
    answers: Object.fromEntries(tally.answers),
    seconds: Number(tally.seconds.toFixed(1)),
    kept,
    lost,
    twiceFresh,
    contradictions: tally.contradictions,
    stray: await orphanRows(sql),
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  const { keys } = tally;
  const isExact = kept.events === keys && kept.messages === keys && kept.runs === keys;
  const faultless = lost + twiceFresh + tally.contradictions + figures.stray === 0;
  process.stdout.write(isExact && faultless ? "exactly once\n" : "NOT exactly once\n");
  process.exitCode = isExact && faultless ? 0 : 1;
} finally {
  await cleanUp();
}

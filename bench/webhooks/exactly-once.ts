/**
 * Sends repeated deliveries through two processes while servers fail; each is stored exactly once.
 *
 *   bun bench/webhooks/exactly-once.ts [--deliveries 10000] [--repeats 0.2]
 *
 * Both processes share a database and a Redis. One process is killed and replaced, Redis is frozen
 * and restarted empty. `--repeats` is the share of deliveries that repeat an earlier one. Fails
 * unless there is exactly one event per key and no acknowledged event is lost.
 */
import { addProject, addUser } from "../../support/accounts.ts";
import { readOptions } from "../../support/bench/options.ts";
import { sendDeliveries } from "../../support/deliveries.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startServer } from "../../support/processes/process.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { seedNotice } from "../../support/seed.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";

const { deliveries, repeats } = readOptions({ deliveries: 10_000, repeats: 0.2 });
const CLIENTS = 24;

await runProgram(async () => {
  console.log(seedNotice);
  const redis = await startRedis();
  const { sql, url: databaseUrl } = await createTestDatabase();
  const webhook = await addWebhook(sql, await addProject(sql, await addUser(sql)));
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, LOG_LEVEL: "fatal" };
  const [first, second] = [await startServer({ env }), await startServer({ env })];
  const urls = [first.url, second.url];

  const faults: Array<[at: number, cause: () => Promise<void>]> = [
    [
      0.25,
      async () => {
        second.kill("SIGKILL");
        await second.exited;
        urls[1] = (await startServer({ env })).url;
      },
    ],
    [0.5, async () => redis.pause()],
    [0.6, async () => redis.resume()],
    [0.75, () => redis.restart()],
  ];
  const caused: Promise<void>[] = [];
  const tally = await sendDeliveries({
    ...{ urls, deliveries, repeatShare: repeats, clients: CLIENTS },
    ...{ path: webhook.path, headers: webhook.headers },
    onProgress(acknowledged) {
      for (const [at, cause] of faults) {
        if (acknowledged === Math.floor(deliveries * at)) caused.push(cause());
      }
    },
  });
  await Promise.all(caused);

  const rows = await sql<{ key: string; id: string }[]>`
    SELECT idempotency_key AS key, id FROM webhook_events
    WHERE webhook_definition_id = ${webhook.id}`;
  const ids = new Map(rows.map(({ key, id }) => [key, id]));
  const stored = await storedRows(sql, webhook);
  const { keys } = tally;
  const faultCounts = {
    lost: [...tally.events].filter(([key, event]) => ids.get(key) !== event).length,
    acknowledgedAsNewTwice: [...tally.fresh.values()].filter((count) => count > 1).length,
    contradictions: tally.contradictions,
    orphanRows: await orphanRows(sql),
  };
  const figures = {
    deliveries: tally.deliveries,
    keys,
    requests: tally.requests,
    answers: Object.fromEntries(tally.answers),
    seconds: Number(tally.seconds.toFixed(1)),
    stored,
    ...faultCounts,
  };
  console.log(JSON.stringify(figures, null, 2));
  const isComplete = stored.events === keys && stored.messages === keys && stored.runs === keys;
  const isFaultless = Object.values(faultCounts).every((count) => count === 0);
  if (!isComplete || !isFaultless) throw new Error("NOT exactly once");
  console.log("exactly once");
});

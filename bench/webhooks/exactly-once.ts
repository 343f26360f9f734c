/**
 * Sends repeated deliveries through two processes while servers fail; each is stored exactly once.
 *
 *   bun bench/webhooks/exactly-once.ts [--deliveries 10000] [--repeats 0.2]
 *
 * Both processes share a database and a Redis. One process is killed and replaced, Redis is frozen
 * and restarted empty. `--repeats` is the share of deliveries that repeat an earlier one. Fails
 * unless there is exactly one event per key and no acknowledged event is lost.
 */
import type { Sql } from "../../src/db/client.ts";
import { addProject, addUser } from "../../support/accounts.ts";
import { FaultDuring } from "../../support/faults.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startRedis, type TestRedis } from "../../support/processes/redis.ts";
import { seedNotice } from "../../support/seed.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { BenchServer } from "../harness/server.ts";
import { sendDeliveries, type Tally } from "./deliveries.ts";

export const OPTIONS = { deliveries: 10_000, repeats: 0.2 };
type Options = typeof OPTIONS;

const CLIENTS = 24;

/** A fault, and the share of the deliveries after which it is caused. */
type Cause = readonly [at: number, cause: () => Promise<void>];

function faultsOf(redis: TestRedis, replace: () => Promise<void>): Cause[] {
  const pause = new FaultDuring(async () => redis.pause());
  return [
    [0.25, replace],
    [0.5, async () => pause.begin()],
    [0.6, () => pause.end()],
    [0.75, () => redis.restart()],
  ];
}

/** Compares what was acknowledged with what is stored. */
async function compare(sql: Sql, webhook: TestWebhook, tally: Tally) {
  const rows = await sql<{ key: string; id: string }[]>`
    SELECT idempotency_key AS key, id FROM webhook_events
    WHERE webhook_definition_id = ${webhook.id}`;
  const ids = new Map(rows.map(({ key, id }) => [key, id]));
  return {
    stored: await storedRows(sql, webhook),
    faults: {
      lost: [...tally.events].filter(([key, event]) => ids.get(key) !== event).length,
      acknowledgedAsNewTwice: [...tally.fresh.values()].filter((count) => count > 1).length,
      contradictions: tally.contradictions,
      orphanRows: await orphanRows(sql),
    },
  };
}

export async function run({ deliveries, repeats }: Options, context: BenchContext) {
  const { out } = context;
  out.line(seedNotice);
  const redis = await startRedis();
  const { sql, url: databaseUrl } = await createTestDatabase();
  const webhook = await addWebhook(sql, await addProject(sql, await addUser(sql)));
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, LOG_LEVEL: "fatal" };
  const servers: BenchServer[] = [await context.startServer(env), await context.startServer(env)];
  const urls = servers.map(({ url }) => url.origin);
  const faults = faultsOf(redis, async () => {
    await servers[1]?.kill();
    urls[1] = (await context.startServer(env)).url.origin;
  });
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

  const compared = await compare(sql, webhook, tally);
  const { keys, requests } = tally;
  const answers = Object.fromEntries(tally.answers);
  const seconds = Number(tally.seconds.toFixed(1));
  const figures = { deliveries: tally.deliveries, keys, requests, answers, seconds, ...compared };
  const { stored } = compared;
  out.line(JSON.stringify({ ...figures, ...compared.faults, faults: undefined }, null, 2));
  const isComplete = stored.events === keys && stored.messages === keys && stored.runs === keys;
  const isFaultless = Object.values(compared.faults).every((count) => count === 0);
  if (!isComplete || !isFaultless) throw new Error("NOT exactly once");
  out.line("exactly once");
  return { ...figures, causedFaults: caused.length };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

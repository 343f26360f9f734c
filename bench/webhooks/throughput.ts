/**
 * Deliveries per second compared with bare handlers that make the same inserts.
 *
 *   bun bench/webhooks/throughput.ts [--seconds 2] [--rounds 5]
 *
 * The servers take turns, so that noise of the machine affects all of them. Each ratio is the median
 * over the rounds.
 */
import examples from "@octokit/webhooks-examples";
import { addProject, addUser } from "../../support/accounts.ts";
import { measureInTurns, throughputRatio } from "../../support/bench/load.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer, startBaseline } from "../../support/bench/server.ts";
import { printHead, printRow } from "../../support/bench/table.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { median } from "../../support/statistics.ts";
import { addWebhook } from "../../support/webhooks.ts";

const { seconds, rounds } = readOptions({ seconds: 2, rounds: 5 });
const CONNECTIONS = 16;
const NAMES = [
  "Tessera",
  "Tessera with Redis",
  "bare handler, a transaction",
  "bare handler, our function",
];

/** Every request is a new delivery of the same payload. */
function deliveries(path: string, secret: string, body: string): () => string {
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
    `x-service-webhook-secret: ${secret}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return () => `${head}idempotency-key: ${crypto.randomUUID()}\r\n\r\n${body}`;
}

await runProgram(async () => {
  const redis = await startRedis();
  const { sql, url: databaseUrl } = await createTestDatabase();
  const project = await addProject(sql, await addUser(sql));
  const webhook = await addWebhook(sql, project);
  const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: "fatal" };
  const alone = await BenchServer.start(env);
  const withRedis = await BenchServer.start({ ...env, REDIS_URL: redis.url });
  const bare = (inserts: string) =>
    startBaseline("bench/webhooks/bare.ts", databaseUrl, webhook.id, project.id, inserts);
  const baselines = [await bare("transaction"), await bare("function")];

  const push = examples.find(({ name }) => name === "push")?.examples[0];
  const body = JSON.stringify(push);
  const next = deliveries(webhook.path, webhook.secret, body);
  const servers = [alone, withRedis].map(({ url, pid }) => ({ url: url.href, pid }));
  const targets = [...servers, ...baselines].map((server) => ({ ...server, next }));
  const results = await measureInTurns(targets, { connections: CONNECTIONS, seconds, rounds });

  console.log(
    `${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each, ` +
      `bodies of ${Buffer.byteLength(body)} bytes (GitHub's push)`,
  );
  printHead("", "deliveries/s", "to the transaction", "to the function", "server CPU us");
  const [, , transaction = [], insertFunction = []] = results;
  for (const [index, runs] of results.entries()) {
    printRow(
      NAMES[index] as string,
      Math.round(median(runs.map((run) => run.requestsPerSecond))),
      throughputRatio(runs, transaction).toFixed(2),
      throughputRatio(runs, insertFunction).toFixed(2),
      Math.round(median(runs.map((run) => run.serverMicroseconds))),
    );
  }
});

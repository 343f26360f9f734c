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
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { addWebhook, storedRows, type TestWebhook } from "../../support/webhooks.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { measureInTurns, type Throughput, throughputRatio } from "../harness/load/turns.ts";
import { rawRequest } from "../harness/requests.ts";
import type { Address } from "../harness/server.ts";
import { median } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";

export const OPTIONS = { seconds: 2, rounds: 5 };
type Options = typeof OPTIONS;

const CONNECTIONS = 16;
const NAMES = [
  "Tessera",
  "Tessera with Redis",
  "bare handler, a transaction",
  "bare handler, our function",
];

/** Every request is a new delivery of the same payload. */
function delivery(server: Address, { path, headers }: TestWebhook, body: string): Uint8Array {
  const key = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  return rawRequest(server, "POST", path, { ...headers, ...key }, body);
}

/** The measurements of one server, by round. */
interface Server {
  readonly name: string;
  readonly runs: readonly Throughput[];
}

function print(out: Output, servers: readonly Server[]): void {
  out.head("", "deliveries/s", "to the transaction", "to the function", "server CPU us");
  const [, , transaction, insertFunction] = servers;
  for (const { name, runs } of servers) {
    out.row(
      name,
      Math.round(median(runs.map((run) => run.requestsPerSecond))),
      throughputRatio(runs, transaction?.runs ?? []).toFixed(2),
      throughputRatio(runs, insertFunction?.runs ?? []).toFixed(2),
      Math.round(median(runs.map((run) => run.serverMicroseconds))),
    );
  }
}

export async function run({ seconds, rounds }: Options, context: BenchContext) {
  const redis = await startRedis();
  const { sql, url: databaseUrl } = await createTestDatabase();
  const project = await addProject(sql, await addUser(sql));
  const webhook = await addWebhook(sql, project);
  const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: "fatal" };
  const alone = await context.startServer(env);
  const withRedis = await context.startServer({ ...env, REDIS_URL: redis.url });
  const bare = (inserts: string) => {
    const args = [databaseUrl, webhook.id, project.id, inserts];
    return context.startBaseline("bench/webhooks/bare.ts", ...args);
  };
  const baselines = [await bare("transaction"), await bare("function")];

  const push = examples.find(({ name }) => name === "push")?.examples[0];
  const body = JSON.stringify(push);
  const targets = [alone, withRedis, ...baselines].map(({ url, pid }) => {
    const server = { url, pid };
    return { ...server, next: () => delivery(server, webhook, body) };
  });
  const results = await measureInTurns(targets, { connections: CONNECTIONS, seconds, rounds });

  context.out.line(
    `${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each, ` +
      `bodies of ${Buffer.byteLength(body)} bytes (GitHub's push)`,
  );
  const servers = results.map((runs, i) => ({ name: NAMES[i] as string, runs }));
  print(context.out, servers);
  return { servers, stored: await storedRows(sql, webhook) };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

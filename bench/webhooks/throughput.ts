/**
 * Deliveries a second against bare handlers that make the same inserts, side by side.
 *
 * `bun bench/webhooks/throughput.ts [seconds of one round] [rounds]`. The servers take turns, so
 * that noise of the machine meets all; each ratio is the median of the rounds' ratios.
 */
import examples from "@octokit/webhooks-examples";
import { cleanUp, onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT } from "../../support/process.ts";
import { startRedis } from "../../support/redis.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { startApiProcess } from "../../test/support/api.ts";
import { type Load, load, type Target } from "../rest/load.ts";

const CONNECTIONS = 16;
const WARM_UP_MS = 1_000;
const [seconds = 2, rounds = 5] = process.argv.slice(2).map(Number);

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function startBare(...args: string[]): Promise<{ url: string; pid: number }> {
  const program = Bun.spawn([process.execPath, "bench/webhooks/bare.ts", ...args], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(() => program.kill());
  for await (const bytes of program.stdout) {
    const url = /listening on (\S+)/.exec(new TextDecoder().decode(bytes))?.[1];
    if (url !== undefined) return { url, pid: program.pid };
  }
  throw new Error("the baseline did not start");
}

/** Every request is a new delivery of the same payload. */
function deliveries(path: string, secret: string, body: string): () => string {
  const head =
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
    `x-service-webhook-secret: ${secret}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return () => `${head}idempotency-key: ${crypto.randomUUID()}\r\n\r\n${body}`;
}

try {
  const redis = await startRedis();
  const alone = await startApiProcess();
  const leasing = await startApiProcess({ beside: alone, env: { REDIS_URL: redis.url } });
  const project = await alone.project(await alone.user());
  const webhook = await addWebhook(alone.sql, project);
  const push = examples.find(({ name }) => name === "push")?.examples[0];
  const body = JSON.stringify(push);
  const next = deliveries(webhook.path, webhook.secret, body);
  const bare = (way: string) => startBare(alone.databaseUrl, webhook.id, project.id, way);
  const target = (url: string, pid: number): Target => {
    return { url, pid, next, path: "", headers: {} };
  };
  const [statements, call] = [await bare("transaction"), await bare("function")];
  const targets = [
    { name: "Tessera", at: target(alone.url, alone.server.pid) },
    { name: "Tessera with Redis", at: target(leasing.url, leasing.server.pid) },
    { name: "bare handler, a transaction", at: target(statements.url, statements.pid) },
    { name: "bare handler, our function", at: target(call.url, call.pid) },
  ];
  for (const { at } of targets) await load(at, CONNECTIONS, WARM_UP_MS);
  const results: Load[][] = targets.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < targets.length; turn++) {
      const index = (turn + round) % targets.length;
      const measured = await load(targets[index]?.at as Target, CONNECTIONS, seconds * 1_000);
      results[index]?.push(measured);
    }
  }
  const rates = results.map((rounds) => rounds.map(({ requestsPerSecond }) => requestsPerSecond));
  const ratio = (index: number, baseline: number) =>
    median((rates[index] ?? []).map((rate, round) => rate / (rates[baseline]?.[round] ?? 0)));
  process.stdout.write(
    `${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each, ` +
      `bodies of ${Buffer.byteLength(body)} bytes (GitHub's push)\n\n` +
      "| | deliveries/s | to the transaction | to the function | server CPU us |\n" +
      "|---|--:|--:|--:|--:|\n",
  );
  for (const [index, { name }] of targets.entries()) {
    const rate = Math.round(median(rates[index] ?? []));
    const cpu = median((results[index] ?? []).map(({ serverMicroseconds }) => serverMicroseconds));
    process.stdout.write(
      `| ${name} | ${rate} | ${ratio(index, 2).toFixed(2)} | ${ratio(index, 3).toFixed(2)} | ${Math.round(cpu)} |\n`,
    );
  }
} finally {
  await cleanUp();
}

/** What is stored, and what a retry is answered, when a process dies in the middle of a delivery or an answer. */
import { expect } from "bun:test";
import { randomUUID } from "node:crypto";
import type { FailpointTrigger } from "../../src/ops/failpoints.ts";
import { type Answer, startApi, startApiProcess } from "../../support/api/api.ts";
import { addInputRequest, storedFor } from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { crashingAt } from "../../support/processes/process.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { until } from "../../support/until.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";

const KILLED = 128 + 9;
const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const healthy = await startApi({ env });
const { sql } = healthy;
const { owner: member, project } = await healthy.ownedProject();

/** Starts a process on the same database and Redis, which searches nothing. */
const startBeside = (program?: readonly string[]) =>
  startApiProcess({ beside: healthy, env, ...(program !== undefined && { program }) });

/** Sends JSON to a process that dies at the failpoint meanwhile. */
async function crashAt(
  point: string,
  path: string,
  headers: Record<string, string>,
  json: unknown,
) {
  const crashing = await startBeside(crashingAt(point));
  const body = JSON.stringify(json);
  const sent = fetch(`${crashing.url}${path}`, { method: "POST", headers, body });
  await expect(sent).rejects.toThrow();
  expect(await crashing.server.exited).toBe(KILLED);
}

const headersOf = (webhook: TestWebhook, key: string) => ({
  ...webhook.headers,
  "content-type": "application/json",
  "idempotency-key": key,
});

const deliver = (webhook: TestWebhook, key: string, json: unknown = { key }) =>
  healthy.send("POST", webhook.path, { headers: headersOf(webhook, key), json });

/** Retries until the lease of the killed process has expired, and returns the last answer. */
async function retry(send: () => Promise<Answer>): Promise<Answer> {
  let last: Answer | undefined;
  await until("a retry has its final answer", async () => {
    last = await send();
    const { idempotency } = last.body;
    if (idempotency?.retryable) expect(idempotency.state).toBe("in_progress");
    return !idempotency?.retryable;
  });
  return last as unknown as Answer;
}

/** A failpoint at which a process dies. */
type Moment = Parameters<FailpointTrigger>[0];

/** At these failpoints, the transaction has committed. */
const COMMITTED: readonly Moment[] = [
  "delivery.committed",
  "delivery.released",
  "answer.committed",
  "answer.released",
];

/** A delivery is stored completely or not at all, and a retry leaves one event. */
export async function deliveryKilledAt(point: Moment): Promise<void> {
  const webhook = await addWebhook(sql, project);
  const key = randomUUID();
  await crashAt(point, webhook.path, headersOf(webhook, key), { key });
  const last = await retry(() => deliver(webhook, key));
  expect([last.status, last.body.duplicate]).toEqual([200, COMMITTED.includes(point)]);
  expect(last.body.payload).toEqual({ key });
  expect(await storedRows(sql, webhook)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
  expect(await orphanRows(sql)).toBe(0);
  const other = await deliver(webhook, key, "other");
  expect(other.body.idempotency.state).toBe("payload_mismatch");
}

/** An answer is stored completely or not at all, and a retry leaves one answer. */
export async function answerKilledAt(point: Moment): Promise<void> {
  const conversation = await addConversation(sql, member, project);
  const request = await addInputRequest(sql, conversation);
  const body = { values: { note: "a" } };
  const headers = { ...member.headers, "content-type": "application/json" };
  await crashAt(point, request.path, headers, body);
  const last = await retry(() => healthy.post(request.path, body, member));
  expect([last.status, last.body.duplicate]).toEqual([200, COMMITTED.includes(point)]);
  expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  const other = await healthy.post(request.path, { values: { note: "b" } }, member);
  expect(other.body.idempotency.state).toBe("payload_mismatch");
}

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type Answer, startApi, type TestApi } from "../../support/api/api.ts";
import {
  addInputRequest,
  storedFor,
  type TestInputRequest,
} from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { type Fault, FaultDuring } from "../../support/faults.ts";
import { lockTable } from "../../support/open-transaction.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";
import { expectStoredOnce, sendDeliveries } from "./deliveries.ts";

needs("redis-server");

const REQUESTS = 24;
/** Callers who give the same answer to each request at once. */
const CALLERS = 3;
const CLIENTS = 12;

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const api = await startApi({ env });
const beside = await startApi({ beside: api, env });
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const conversation = await addConversation(sql, member, project);

const ask = () => addInputRequest(sql, conversation);
const answer = (to: TestApi, request: TestInputRequest, note = request.id) =>
  to.post(request.path, { values: { note } }, member);

/** Repeats an answer until it is accepted. Returns the names of the refusals before that. */
async function accepted(send: () => Promise<Answer>): Promise<{ refused: string[]; last: Answer }> {
  const refused: string[] = [];
  let last: Answer | undefined;
  await until("the answer is accepted", async () => {
    last = await send();
    if (last.status === 200) return true;
    refused.push(`${last.status} ${last.body.idempotency?.state}`);
    return false;
  });
  return { refused, last: last as Answer };
}

/** Answers all requests through both services, each by several callers at once. */
async function answerAll(requests: readonly TestInputRequest[], onAnswer: (n: number) => void) {
  const sends = requests.flatMap((request) => Array<TestInputRequest>(CALLERS).fill(request));
  const results: { request: TestInputRequest; refused: string[]; last: Answer }[] = [];
  const client = async (_: unknown, number: number) => {
    for (let request = sends.shift(); request !== undefined; request = sends.shift()) {
      const own = request;
      const service = number % 2 === 0 ? api : beside;
      results.push({ request: own, ...(await accepted(() => answer(service, own))) });
      onAnswer(results.length);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return results;
}

describe("a second answer while the first is being stored", () => {
  test("is told at once that the first is in progress, in every process, and is stored once", async () => {
    const request = await ask();
    const responses = await lockTable(sql, "input_responses");
    const first = answer(api, request);
    await responses.awaitedBy(1);
    for (const service of [api, beside]) {
      const { status, headers, body } = await answer(service, request);
      expect(status).toBe(409);
      // Only the lease knows a time. An answer that had waited for the row would not tell one.
      expect(body.idempotency).toMatchObject({
        state: "in_progress",
        operation: "answerInputRequest",
        retryable: true,
        retry_after_seconds: 1,
        expires_at: expect.any(String),
      });
      expect(headers.get("retry-after")).toBe("1");
    }
    await responses.commit();
    expect((await first).body.duplicate).toBe(false);
    expect((await answer(beside, request)).body.duplicate).toBe(true);
    expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  });

  test("is refused for what is wrong with it, and a foreign one learns nothing of the first", async () => {
    const request = await ask();
    const responses = await lockTable(sql, "input_responses");
    const first = answer(api, request);
    await responses.awaitedBy(1);
    const invalid = await beside.post(request.path, { values: { note: 1 } }, member);
    expect([invalid.status, invalid.body.slug]).toEqual([400, "validation-failed"]);
    const foreign = await beside.post(request.path, { values: { note: "a" } }, await api.user());
    expect([foreign.status, foreign.body.slug]).toEqual([404, "conversation-not-found"]);
    await responses.commit();
    expect((await first).status).toBe(200);
  });
});

const faults: Readonly<Record<string, () => Promise<Fault | undefined>>> = {
  killed: () => redis.kill(),
  frozen: async () => redis.pause(),
  "restarted empty": () => redis.restart().then(() => undefined),
};

describe("answers during a Redis failure", () => {
  for (const [fault, inject] of Object.entries(faults)) {
    test(`no answer is lost or stored twice when Redis is ${fault}`, async () => {
      const requests = await Promise.all(Array.from({ length: REQUESTS }, ask));
      await using failure = new FaultDuring(inject);
      const results = await answerAll(requests, (answered) => {
        if (answered === REQUESTS) failure.begin();
        if (answered === 2 * REQUESTS) void failure.end();
      });
      // The only refusals are retryable conflicts with an answer that is still being stored.
      const refusals = new Set(results.flatMap(({ refused }) => refused));
      expect([...refusals].filter((name) => name !== "409 in_progress")).toEqual([]);
      const byRequest = Map.groupBy(results, ({ request }) => request);
      for (const [request, own] of byRequest) {
        expect(own.filter(({ last }) => !last.body.duplicate)).toHaveLength(1);
        expect(new Set(own.map(({ last }) => last.body.input_response.id)).size).toBe(1);
        expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
      }
      expect(byRequest.size).toBe(REQUESTS);
    });
  }

  test("without Redis, concurrent answers through two processes are stored once", async () => {
    await using _killed = await redis.kill();
    const request = await ask();
    const services = [api, beside, api, beside, api, beside];
    const answers = await Promise.all(services.map((service) => answer(service, request)));
    expect(answers.map(({ status }) => status)).toEqual(services.map(() => 200));
    expect(answers.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  });
});

describe("deliveries during a Redis failure", () => {
  for (const [fault, inject] of Object.entries(faults)) {
    test(`no delivery is lost or stored twice when Redis is ${fault}`, async () => {
      const webhook = await addWebhook(sql, project);
      const urls = [api.url, beside.url];
      await using failure = new FaultDuring(inject);
      const tally = await sendDeliveries({
        urls,
        path: webhook.path,
        headers: webhook.headers,
        deliveries: 120,
        repeatShare: 0.2,
        clients: CLIENTS,
        onProgress(acknowledged) {
          if (acknowledged === 40) failure.begin();
          if (acknowledged === 100) void failure.end();
        },
      });
      // The only refusals are retryable conflicts with a delivery that is still running.
      const names = [...tally.answers.keys()].filter((name) => name !== "409 in_progress");
      expect(names).toEqual(["200"]);
      await expectStoredOnce(sql, webhook, tally);
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

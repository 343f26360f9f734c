import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApi, type TestApi } from "../../support/api/api.ts";
import { addInputRequest, storedFor } from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { lockTable } from "../../support/open-transaction.ts";
import { TestProxy } from "../../support/processes/proxy.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";

const api = await startApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
// Another service, which loses the database where a test wants it.
const proxy = await TestProxy.start(api.databaseUrl);
const lost = await startApi({ beside: api, env: { DATABASE_URL: proxy.url } });

const deliver = (to: TestApi, webhook: TestWebhook, key: string | null, json: unknown = { key }) =>
  to.send("POST", webhook.path, {
    headers: { ...webhook.headers, ...(key === null ? {} : { "idempotency-key": key }) },
    json,
  });

describe("a database connection lost during a transaction", () => {
  for (const key of [randomUUID(), null]) {
    test(`a delivery ${key ? "with" : "without"} a key is retried after a lost connection and stored once`, async () => {
      const webhook = await addWebhook(sql, project);
      const runs = await lockTable(sql, "runs");
      const sent = deliver(api, webhook, key);
      for (const pid of await runs.awaitedBy(1)) await sql`SELECT pg_terminate_backend(${pid})`;
      await runs.commit();
      const { status, body } = await sent;
      expect([status, body.duplicate]).toEqual([200, false]);
      expect(await storedRows(sql, webhook)).toMatchObject({ events: 1, messages: 1, runs: 1 });
      expect(await orphanRows(sql)).toBe(0);
    });
  }

  test("an answer is retried after a lost connection and stored once", async () => {
    const request = await addInputRequest(sql, await addConversation(sql, member, project));
    const responses = await lockTable(sql, "input_responses");
    const sent = api.post(request.path, { values: { note: "a" } }, member);
    for (const pid of await responses.awaitedBy(1)) await sql`SELECT pg_terminate_backend(${pid})`;
    await responses.commit();
    const { status, body } = await sent;
    expect([status, body.duplicate]).toEqual([200, false]);
    expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  });
});

describe("a slow first attempt", () => {
  test("a second delivery with the same key returns 409 in_progress while the first runs", async () => {
    const webhook = await addWebhook(sql, project);
    const runs = await lockTable(sql, "runs");
    const key = randomUUID();
    const first = deliver(api, webhook, key);
    await runs.awaitedBy(1);
    const { status, body, headers } = await deliver(api, webhook, key);
    expect(status).toBe(409);
    expect(body.idempotency).toMatchObject({
      state: "in_progress",
      operation: "deliverWebhook",
      retryable: true,
      retry_after_seconds: 1,
      expires_at: expect.any(String),
    });
    expect(headers.get("retry-after")).toBe("1");
    await runs.commit();
    expect((await first).body.duplicate).toBe(false);
    expect((await deliver(api, webhook, key)).body.duplicate).toBe(true);
  });

  test("a second delivery through another process waits for the first and is a duplicate", async () => {
    const webhook = await addWebhook(sql, project);
    const beside = await startApi({ beside: api });
    const runs = await lockTable(sql, "runs");
    const key = randomUUID();
    const both = [deliver(api, webhook, key), deliver(beside, webhook, key)];
    await runs.awaitedBy(2);
    await runs.commit();
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.filter(({ body }) => body.duplicate)).toHaveLength(1);
    expect(await storedRows(sql, webhook)).toMatchObject({ events: 1, messages: 1, runs: 1 });
    expect(await orphanRows(sql)).toBe(0);
  });

  test("a delivery that the database does not finish in time returns 503, and a retry stores it", async () => {
    const webhook = await addWebhook(sql, project);
    const runs = await lockTable(sql, "runs");
    const key = randomUUID();
    const { status, body, headers } = await deliver(api, webhook, key);
    await runs.commit();
    expect([status, body.slug]).toEqual([503, "overloaded"]);
    expect(headers.has("retry-after")).toBe(true);
    expect((await deliver(api, webhook, key)).body.duplicate).toBe(false);
  });
});

describe("a database lost around a commit", () => {
  for (const isCommitted of [true, false]) {
    const moment = isCommitted ? "after" : "before";

    test(`a delivery cut off ${moment} the commit returns 409 outcome_unknown, and a retry is stored once`, async () => {
      const webhook = await addWebhook(sql, project);
      await deliver(lost, webhook, null, "warm");
      const key = randomUUID();
      await using cut = proxy.cutAt(...(isCommitted ? [key, "SELECT 1"] : [key]));
      const answer = await deliver(lost, webhook, key);
      await cut.begun;
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ error: "idempotency-conflict" });
      expect(answer.body.idempotency).toMatchObject({
        state: "outcome_unknown",
        operation: "deliverWebhook",
        retryable: true,
        retry_after_seconds: 1,
        expires_at: null,
        recovery: { available: true },
      });
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(await storedRows(sql, webhook)).toMatchObject({ events: isCommitted ? 2 : 1 });
      await cut.end();
      const again = await deliver(lost, webhook, key);
      expect([again.status, again.body.duplicate]).toEqual([200, isCommitted]);
      expect(await storedRows(sql, webhook)).toMatchObject({
        events: 2,
        messages: 2,
        runs: 2,
        keys: 1,
      });
    });

    test(`an answer cut off ${moment} the commit returns 409 outcome_unknown, and a retry is stored once`, async () => {
      const request = await addInputRequest(sql, await addConversation(sql, member, project));
      const note = `note-${randomUUID()}`;
      const send = () => lost.post(request.path, { values: { note } }, member);
      await using cut = proxy.cutAt(note, isCommitted ? "COMMIT" : "INSERT 0 1");
      const answer = await send();
      await cut.begun;
      expect(answer.status).toBe(409);
      expect(answer.body.idempotency).toMatchObject({
        state: "outcome_unknown",
        operation: "answerInputRequest",
        retryable: true,
      });
      await cut.end();
      const again = await send();
      expect([again.status, again.body.duplicate]).toEqual([200, isCommitted]);
      expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
    });
  }

  test("a delivery returns 503 while the database is unreachable, and is stored once it is back", async () => {
    const webhook = await addWebhook(sql, project);
    await deliver(lost, webhook, null, "warm");
    await using cut = proxy.cutAt("mark");
    await deliver(lost, webhook, "mark");
    await cut.begun;
    const answer = await deliver(lost, webhook, "k");
    expect([answer.status, answer.body.slug]).toEqual([503, "dependency-unavailable"]);
    expect(answer.headers.has("retry-after")).toBe(true);
    await cut.end();
    expect((await deliver(lost, webhook, "k")).body.duplicate).toBe(false);
  });
});

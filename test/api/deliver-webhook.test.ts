import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addConversation, addMessages } from "../../support/content.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";
import { deliveriesThrough, JSON_HEADERS, keyed } from "./webhook-deliveries.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const webhook = await addWebhook(sql, project);

const deliver = deliveriesThrough(api);

describe("POST /webhooks/{webhook_id}", () => {
  test("a delivery is stored with its conversation, message and run", async () => {
    const { status, body } = await deliver(webhook, '{"action":"opened"}', keyed("first"));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      webhook_definition_id: webhook.id,
      project_id: project.id,
      run_id: body.canonical_run_id,
      latest_event_id: 1,
      status: "accepted",
      duplicate: false,
      invoked_by: "webhook",
      payload: { action: "opened" },
    });
    const path = `/conversations/${body.conversation_id}`;
    const conversation = (await api.get(path, member)).body;
    expect(conversation).toMatchObject({ project_id: project.id, message_count: 1 });
    const message = (await api.get(`${path}/messages/${body.message_id}`, member)).body;
    expect(message).toMatchObject({
      role: "user",
      seq: 1,
      parts: [{ type: "webhook", payload: { action: "opened" } }],
      idempotency_key: "first",
    });
    const [run] = await sql`SELECT status, message_id FROM runs WHERE id = ${body.run_id}`;
    expect(run).toEqual({ status: "queued", message_id: body.message_id });
  });

  test("a result has every field that the document names, and no other", async () => {
    const { body } = await deliver(await addWebhook(sql, project), "{}", keyed("k"));
    const { document } = await api.contract();
    const named = Object.keys(document.components.schemas.WebhookEventResult.properties);
    expect(Object.keys(body).sort()).toEqual(named.sort());
  });

  test("a repeated delivery returns the stored result and stores nothing", async () => {
    const own = await addWebhook(sql, project);
    const first = await deliver(own, '{"a":1,"b":[true,null]}', keyed("k"));
    const again = await deliver(own, ' {"b":[true,null],\n"a":1.0} ', keyed("k"));
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(await storedRows(sql, own)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
  });

  test("a delivery with a used key and another payload returns 409 and is not retryable", async () => {
    const own = await addWebhook(sql, project);
    const first = await deliver(own, '{"n":9007199254740993}', keyed("k"));
    const other = await deliver(own, '{"n":9007199254740992}', keyed("k"));
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({
      slug: "idempotency-conflict",
      error: "idempotency-conflict",
      message: other.body.detail,
      idempotency: {
        state: "payload_mismatch",
        operation: "deliverWebhook",
        retryable: false,
        retry_after_seconds: null,
        expires_at: null,
      },
    });
    expect(other.headers.has("retry-after")).toBe(false);
    const { resource_url } = other.body.idempotency.recovery;
    const stored = await api.get(resource_url.slice(api.url.length), member);
    expect(stored.body.id).toBe(first.body.message_id);
    expect(await storedRows(sql, own)).toMatchObject({ events: 1 });
  });

  test("every delivery without a key is stored", async () => {
    const own = await addWebhook(sql, project);
    const [a, b] = [await deliver(own, "{}"), await deliver(own, "{}")];
    expect([a.body.duplicate, b.body.duplicate]).toEqual([false, false]);
    expect(await storedRows(sql, own)).toMatchObject({ events: 2, messages: 2, runs: 2, keys: 0 });
  });

  test("webhooks do not share idempotency keys", async () => {
    const [one, two] = [await addWebhook(sql, project), await addWebhook(sql, project)];
    expect((await deliver(one, "1", keyed("same"))).body.duplicate).toBe(false);
    expect((await deliver(two, "2", keyed("same"))).body.duplicate).toBe(false);
  });

  test("concurrent deliveries with one key are stored once, the others are duplicates or told to retry", async () => {
    const own = await addWebhook(sql, project);
    const before = await orphanRows(sql);
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => deliver(own, '{"n":1}', keyed("race"))),
    );
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(new Set(accepted.map(({ body }) => body.webhook_event_id)).size).toBe(1);
    for (const { status, body, headers } of answers) {
      if (status === 200) continue;
      expect(status).toBe(409);
      expect(body.idempotency).toMatchObject({ state: "in_progress", retryable: true });
      expect(body.idempotency.retry_after_seconds).toBeGreaterThanOrEqual(1);
      expect(Date.parse(body.idempotency.expires_at)).toBeGreaterThan(Date.now() - 60_000);
      expect(headers.get("retry-after")).toBe(String(body.idempotency.retry_after_seconds));
    }
    expect(await storedRows(sql, own)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
    expect(await orphanRows(sql)).toBe(before);
  });
});

describe("the conversation of a webhook", () => {
  test("a webhook with a conversation appends every delivery to it and counts the events", async () => {
    const conversationId = await addConversation(sql, member, project);
    const messages = await addMessages(sql, conversationId, 2);
    await sql`UPDATE conversations SET current_node = ${messages[1] as string} WHERE id = ${conversationId}`;
    const own = await addWebhook(sql, project, { conversationId });
    const first = (await deliver(own, "1")).body;
    const second = (await deliver(own, "2")).body;
    expect([first.latest_event_id, second.latest_event_id]).toEqual([1, 2]);
    const tree = (await api.get(`/conversations/${conversationId}/tree`, member)).body.items;
    expect(tree.slice(2).map(({ id, seq, parent_id }: Json) => ({ id, seq, parent_id }))).toEqual([
      { id: first.message_id, seq: 3, parent_id: messages[1] },
      { id: second.message_id, seq: 4, parent_id: first.message_id },
    ]);
    const conversation = (await api.get(`/conversations/${conversationId}`, member)).body;
    expect(conversation).toMatchObject({ message_count: 4, current_node: second.message_id });
  });

  test("concurrent deliveries to one conversation are numbered without gaps", async () => {
    const conversationId = await addConversation(sql, member, project);
    const own = await addWebhook(sql, project, { conversationId });
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(own, "1")));
    const numbers = answers.map(({ body }) => body.latest_event_id).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    const [{ seqs }] = await sql<[{ seqs: number[] }]>`
      SELECT array_agg(seq ORDER BY seq) AS seqs FROM messages WHERE conversation_id = ${conversationId}`;
    expect(seqs).toEqual(numbers);
  });

  test("a delivery is numbered after what another transaction adds at the same time", async () => {
    const conversationId = await addConversation(sql, member, project);
    const own = await addWebhook(sql, project, { conversationId });
    const { body } = await beforeCommit(
      sql,
      (tx) => tx`
        UPDATE conversations SET message_count = 5, latest_event_id = 7 WHERE id = ${conversationId}`,
      () => deliver(own, "1"),
    );
    expect(body.latest_event_id).toBe(8);
    const seqs = await sql`SELECT seq FROM messages WHERE conversation_id = ${conversationId}`;
    expect([...seqs]).toEqual([{ seq: 6 }]);
  });

  test("a delivery is never added to a conversation of another project", async () => {
    const conversationId = await addConversation(sql, member, await api.project(member));
    const own = await addWebhook(sql, project, { conversationId });
    const { body } = await deliver(own, "1");
    expect(body.conversation_id).not.toBe(conversationId);
    const [{ n }] = await sql<[{ n: number }]>`
      SELECT count(*)::int AS n FROM messages WHERE conversation_id = ${conversationId}`;
    expect(n).toBe(0);
  });
});

describe("the idempotency key of a delivery", () => {
  test("the idempotency key is the first present of the headers of known senders", async () => {
    const own = await addWebhook(sql, project);
    const names = [
      ...["Idempotency-Key", "X-GitHub-Delivery", "X-Gitlab-Event-UUID", "X-Request-UUID"],
      ...["webhook-id", "svix-id", "X-Gitea-Delivery", "X-Shopify-Webhook-Id", "Linear-Delivery"],
    ];
    for (let first = 0; first < names.length; first++) {
      const present = names.slice(first).map((name) => [name, `of-${name}`]);
      await deliver(own, "1", { ...JSON_HEADERS, ...Object.fromEntries(present) });
    }
    const rows = await sql`
      SELECT idempotency_key AS key FROM webhook_events
      WHERE webhook_definition_id = ${own.id} ORDER BY received_at`;
    // GitLab gives several events of one action the same UUID, and another `webhook-id` each.
    const counted = names.map((name) => (name === "X-Gitlab-Event-UUID" ? "X-Request-UUID" : name));
    expect(rows.map(({ key }) => key)).toEqual([...new Set(counted)].map((name) => `of-${name}`));
  });

  test("two events of one action that GitLab gives the same UUID are two deliveries", async () => {
    const own = await addWebhook(sql, project);
    const send = (id: string) =>
      deliver(own, "1", { ...JSON_HEADERS, "X-Gitlab-Event-UUID": "action", "webhook-id": id });
    const ids = [await send("a"), await send("b"), await send("a")].map(
      ({ body }) => body.webhook_event_id,
    );
    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });

  test("an idempotency key has 1 to 255 visible ASCII characters, any other returns 400", async () => {
    expect((await deliver(webhook, "1", keyed("!~".repeat(127)))).status).toBe(200);
    expect((await deliver(webhook, "1", keyed("k".repeat(255)))).status).toBe(200);
    for (const key of ["", "k".repeat(256), "two words", "gr\u00fcn", "tab\there"]) {
      const answer = await deliver(webhook, "1", keyed(key));
      expect(answer.status, key).toBe(400);
      expect(answer.body.errors[0].field).toBe("Idempotency-Key");
    }
  });
});

describe("the result of a delivery", () => {
  test("the result names the definition by its UUID, or by a UUID derived from its id", async () => {
    const upper = await addWebhook(sql, project, { id: randomUUID().toUpperCase() });
    const named = await addWebhook(sql, project, { id: "release hook / ünïcode?#" });
    const github = await addWebhook(sql, project, { id: "github" });
    const idFor = async (to: typeof named) => (await deliver(to, "1")).body.webhook_definition_id;
    expect(await idFor(upper)).toBe(upper.id.toLowerCase());
    expect(await idFor(named)).toBe(await idFor(named));
    // Every version derives the same.
    expect(await idFor(github)).toBe("503f9a8e-368a-5793-ad9f-819fd65294ff");
  });
});

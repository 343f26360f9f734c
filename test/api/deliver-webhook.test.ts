import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { addConversation, addMessages } from "../../support/content.ts";
import { addWebhook, orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";
import { startApi, type TestProject, withoutRequestId } from "../support/api.ts";
import type { Json } from "../support/openapi.ts";

const api = await startApi({ env: { MAX_BODY_BYTES: "65536" } });
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const webhook = await addWebhook(sql, project);

const JSON_HEADERS = { "content-type": "application/json" };

function deliver(
  to: TestWebhook,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_HEADERS,
) {
  const sent = { ...to.headers, ...headers };
  return api.send("POST", to.path, { headers: sent, ...(body === undefined ? {} : { body }) });
}

const keyed = (key: string) => ({ ...JSON_HEADERS, "idempotency-key": key });

describe("a delivery to POST /webhooks/{webhook_id}", () => {
  test("is kept with its conversation, message and run", async () => {
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

  test("repeated with its key is answered with the stored result and makes nothing new", async () => {
    const own = await addWebhook(sql, project);
    const first = await deliver(own, '{"a":1,"b":[true,null]}', keyed("k"));
    const again = await deliver(own, ' {"b":[true,null],\n"a":1.0} ', keyed("k"));
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(await storedRows(sql, own)).toEqual({ events: 1, messages: 1, runs: 1, keys: 1 });
  });

  test("with another payload under a used key is a conflict that no retry mends", async () => {
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
    const kept = await api.get(resource_url.slice(api.url.length), member);
    expect(kept.body.id).toBe(first.body.message_id);
    expect(await storedRows(sql, own)).toMatchObject({ events: 1 });
  });

  test("without a key is new every time", async () => {
    const own = await addWebhook(sql, project);
    const [a, b] = [await deliver(own, "{}"), await deliver(own, "{}")];
    expect([a.body.duplicate, b.body.duplicate]).toEqual([false, false]);
    expect(await storedRows(sql, own)).toMatchObject({ events: 2, messages: 2, runs: 2, keys: 0 });
  });

  test("has a key of its own webhook only", async () => {
    const [one, two] = [await addWebhook(sql, project), await addWebhook(sql, project)];
    expect((await deliver(one, "1", keyed("same"))).body.duplicate).toBe(false);
    expect((await deliver(two, "2", keyed("same"))).body.duplicate).toBe(false);
  });

  test("sent many times at once is kept once; the others get its result or are told to wait", async () => {
    const own = await addWebhook(sql, project);
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
    expect(await orphanRows(sql)).toBe(0);
  });
});

describe("the conversation of a definition", () => {
  test("takes every delivery as a child of its current message, and counts events", async () => {
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

  test("gives simultaneous deliveries numbers without gaps", async () => {
    const conversationId = await addConversation(sql, member, project);
    const own = await addWebhook(sql, project, { conversationId });
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(own, "1")));
    const numbers = answers.map(({ body }) => body.latest_event_id).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    const [{ seqs }] = await sql<[{ seqs: number[] }]>`
      SELECT array_agg(seq ORDER BY seq) AS seqs FROM messages WHERE conversation_id = ${conversationId}`;
    expect(seqs).toEqual(numbers);
  });

  test("of another project is never written to", async () => {
    const conversationId = await addConversation(sql, member, await api.project(member));
    const own = await addWebhook(sql, project, { conversationId });
    const { body } = await deliver(own, "1");
    expect(body.conversation_id).not.toBe(conversationId);
    const [{ n }] = await sql<[{ n: number }]>`
      SELECT count(*)::int AS n FROM messages WHERE conversation_id = ${conversationId}`;
    expect(n).toBe(0);
  });
});

describe("the payload", () => {
  test("of JSON comes back exactly as it was sent, on the first delivery and on a repeated one", async () => {
    const texts = [
      '{"z":1,"a":{"y":12345678901234567890.000,"b":1e400}}',
      '{"nul":"\\u0000","half":"\\ud800","line":"\\u2028"}',
      '{"twice":1,"twice":2,"":[],"__proto__":{"x":1}}',
      '"text"',
      "0.10",
      "null",
    ];
    for (const text of texts) {
      const key = keyed(randomUUID());
      const first = await deliver(webhook, text, key);
      const again = await deliver(webhook, text, key);
      expect(first.text.endsWith(`"payload":${text}}`), text).toBe(true);
      expect(again.text.endsWith(`"payload":${text}}`), text).toBe(true);
      expect(again.body.duplicate).toBe(true);
    }
  });

  test("of a JSON-based type is JSON", async () => {
    const { body } = await deliver(webhook, "[1]", { "content-type": "application/ld+json; a=b" });
    expect(body.payload).toEqual([1]);
  });

  test("of an empty body is null, whatever the type", async () => {
    expect((await deliver(webhook)).body.payload).toBeNull();
    expect((await deliver(webhook, undefined, {})).body.payload).toBeNull();
  });

  test("of a form is the document in its field payload, else its text", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const document = encodeURIComponent('{"zen":"a + b & c"}');
    expect((await deliver(webhook, `payload=${document}`, form)).body.payload).toEqual({
      zen: "a + b & c",
    });
    expect((await deliver(webhook, "a=1&b=2", form)).body.payload).toBe("a=1&b=2");
  });

  test("of other text is a string, in its charset, and the same only to the byte", async () => {
    const plain = { "content-type": "text/plain", "idempotency-key": randomUUID() };
    expect((await deliver(webhook, '{"a": 1}', plain)).body.payload).toBe('{"a": 1}');
    expect((await deliver(webhook, '{"a":1}', plain)).status).toBe(409);
    const latin = { "content-type": "text/plain; charset=iso-8859-1" };
    const bytes = new Uint8Array([0x67, 0x72, 0xfc, 0x6e, 0x00]);
    expect((await deliver(webhook, bytes, latin)).body.payload).toBe("grün\u0000");
  });

  test("that is malformed under a JSON type answers 400 and keeps nothing", async () => {
    const own = await addWebhook(sql, project);
    const invalid = new Uint8Array([0x22, 0xff, 0x22]);
    for (const body of ["{", '{"a":1}}', "nope", invalid, "[".repeat(2_000) + "]".repeat(2_000)]) {
      const answer = await deliver(own, body, keyed("k"));
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ slug: "validation-failed", error: "validation-failed" });
      expect(answer.body.errors[0].field).toBe("body");
    }
    expect(await storedRows(sql, own)).toMatchObject({ events: 0 });
    expect((await deliver(own, "{}", keyed("k"))).body.duplicate).toBe(false);
  });

  test("beyond the limit answers 413, declared or streamed", async () => {
    const large = `"${"x".repeat(70_000)}"`;
    expect((await deliver(webhook, large)).status).toBe(413);
    const pieces = new ReadableStream({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode("x".repeat(10_000)));
        await Bun.sleep(1);
      },
    });
    const streamed = await fetch(api.url + webhook.path, {
      method: "POST",
      headers: webhook.headers,
      body: pieces,
    });
    expect(streamed.status).toBe(413);
    expect((await streamed.json()) as Json).toMatchObject({ error: "payload-too-large" });
  });
});

describe("the idempotency key", () => {
  test("is the first that is present of the headers that senders use", async () => {
    const own = await addWebhook(sql, project);
    const headers = {
      ...JSON_HEADERS,
      "X-Request-UUID": "bitbucket",
      "X-Gitlab-Event-UUID": "gitlab",
      "X-GitHub-Delivery": "github",
      "Idempotency-Key": "ours",
    };
    for (const name of Object.keys(headers).slice(1).reverse()) {
      await deliver(own, "1", headers);
      delete headers[name as keyof typeof headers];
    }
    const rows = await sql`
      SELECT idempotency_key AS key FROM webhook_events
      WHERE webhook_definition_id = ${own.id} ORDER BY received_at`;
    expect(rows.map(({ key }) => key)).toEqual(["ours", "github", "gitlab", "bitbucket"]);
  });

  test("of 1 to 255 visible ASCII characters is taken; any other answers 400", async () => {
    expect((await deliver(webhook, "1", keyed("!~".repeat(127)))).status).toBe(200);
    expect((await deliver(webhook, "1", keyed("k".repeat(255)))).status).toBe(200);
    for (const key of ["", "k".repeat(256), "two words", "gr\u00fcn", "tab\there"]) {
      const answer = await deliver(webhook, "1", keyed(key));
      expect(answer.status, key).toBe(400);
      expect(answer.body.errors[0].field).toBe("Idempotency-Key");
    }
  });
});

describe("the result", () => {
  test("names a definition by its id where that is a UUID, else by one derived from it", async () => {
    const upper = await addWebhook(sql, project, { id: randomUUID().toUpperCase() });
    const named = await addWebhook(sql, project, { id: "release hook / ünïcode?#" });
    expect((await deliver(upper, "1")).body.webhook_definition_id).toBe(upper.id.toLowerCase());
    const first = (await deliver(named, "1")).body.webhook_definition_id;
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await deliver(named, "2")).body.webhook_definition_id).toBe(first);
  });
});

describe("a sender", () => {
  const refused = async (why: string, path: string, headers: Record<string, string>) => {
    const answer = await api.send("POST", path, { headers, json: {} });
    expect(answer.status, why).toBe(401);
    expect(answer.body, why).toMatchObject({ slug: "unauthorized", error: "unauthorized" });
    expect(answer.headers.get("www-authenticate"), why).toContain("Bearer");
  };
  const secret = (value: string) => ({ "x-service-webhook-secret": value });

  test("proves itself by the secret in the header or in the query", async () => {
    expect((await api.send("POST", webhook.path, { headers: webhook.headers })).status).toBe(200);
    const own = await addWebhook(sql, project, { secret: "grün & + %?" });
    const query = `${own.path}?secret=${encodeURIComponent(own.secret)}`;
    expect((await api.send("POST", query)).status).toBe(200);
    const bytes = Buffer.from(own.secret).toString("latin1");
    expect((await api.send("POST", own.path, { headers: secret(bytes) })).status).toBe(200);
  });

  test("with a wrong, foreign or absent secret answers 401 and nothing is kept", async () => {
    const own = await addWebhook(sql, project);
    await refused("none", own.path, {});
    await refused("wrong", own.path, secret("wrong"));
    await refused("empty", own.path, secret(""));
    await refused("of another webhook", own.path, secret(webhook.secret));
    await refused("with a tail", own.path, secret(`${own.secret}x`));
    await refused("wrong in the query", `${own.path}?secret=wrong`, {});
    await refused("empty in the query", `${own.path}?secret=`, {});
    expect(await storedRows(sql, own)).toMatchObject({ events: 0 });
  });

  test("is judged by the first credential that is present", async () => {
    const right = webhook.secret;
    await refused("header before query", `${webhook.path}?secret=${right}`, secret("wrong"));
    await refused("header before bearer", webhook.path, { ...member.headers, ...secret("wrong") });
    await refused("query before bearer", `${webhook.path}?secret=wrong`, { ...member.headers });
  });

  test("may be a member of the project, by token or by key", async () => {
    const scoped = await api.key(member, { scopes: ["webhooks.deliver"], project });
    for (const as of [member, await api.key(member), scoped]) {
      expect((await api.send("POST", webhook.path, { as, json: {} })).status).toBe(200);
    }
  });

  test("who is foreign to the project answers 401, whatever the credential", async () => {
    for (const { why, caller } of await api.foreigners(project)) {
      await refused(why, webhook.path, { ...caller.headers });
    }
    await refused("nonsense", webhook.path, { authorization: "Bearer nonsense" });
    await refused("basic", webhook.path, { authorization: "Basic dXNlcjpwYXNz" });
  });

  test("who is a member without the permission answers 403", async () => {
    const answer = await api.post(webhook.path, {}, await api.unpermitted(project));
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ slug: "permission-denied", error: "permission-denied" });
  });
});

describe("a definition", () => {
  const notFound = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await api.send("POST", path, { headers, json: {} });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ slug: "webhook-not-found", error: "webhook-not-found" });
    return withoutRequestId(answer);
  };

  test("that is unknown or disabled answers 404, whatever the credential", async () => {
    const disabled = await addWebhook(sql, project, { enabled: false });
    const unknown = await notFound("/webhooks/unknown");
    expect(await notFound(disabled.path, disabled.headers)).toEqual(unknown);
    expect(await notFound(disabled.path, { ...member.headers })).toEqual(unknown);
    expect(await notFound("/webhooks/a%00b")).toEqual(unknown);
  });

  test("with an id that is too long answers 400", async () => {
    const answer = await api.send("POST", `/webhooks/${"x".repeat(129)}`);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].field).toBe("webhook_id");
  });

  test("takes nothing any more once it is disabled, and again once it is enabled", async () => {
    const own = await addWebhook(sql, project);
    expect((await deliver(own, "1")).status).toBe(200);
    await sql`UPDATE webhook_definitions SET enabled = false WHERE id = ${own.id}`;
    expect((await deliver(own, "2")).status).toBe(404);
    await sql`UPDATE webhook_definitions SET enabled = true WHERE id = ${own.id}`;
    const until = Date.now() + 5_000;
    while ((await deliver(own, "3")).status === 404) expect(Date.now()).toBeLessThan(until);
    expect(await storedRows(sql, own)).toMatchObject({ events: 2 });
  });

  test("that goes with its project takes its events along", async () => {
    const gone: TestProject = await api.project(member);
    const own = await addWebhook(sql, gone);
    await deliver(own, "1");
    await sql`DELETE FROM projects WHERE id = ${gone.id}`;
    expect(await storedRows(sql, own)).toMatchObject({ events: 0 });
    expect(await orphanRows(sql)).toBe(0);
  });
});

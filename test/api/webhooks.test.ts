import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import examples from "@octokit/webhooks-examples";
import { sharedApi, withoutRequestId } from "../../support/api/api.ts";
import { until } from "../../support/until.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";
import { deliveriesThrough, keyed } from "./webhook-deliveries.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const webhook = await addWebhook(sql, project);

const deliver = deliveriesThrough(api);

describe("the sender of a delivery", () => {
  const refused = async (why: string, path: string, headers: Record<string, string>) => {
    const answer = await api.send("POST", path, { headers, json: {} });
    expect(answer.status, why).toBe(401);
    expect(answer.body, why).toMatchObject({ slug: "unauthorized", error: "unauthorized" });
    expect(answer.headers.get("www-authenticate"), why).toContain("Bearer");
  };
  const secret = (value: string) => ({ "x-service-webhook-secret": value });

  test("a sender may send the secret in the header or in the query", async () => {
    expect((await api.send("POST", webhook.path, { headers: webhook.headers })).status).toBe(200);
    const own = await addWebhook(sql, project, { secret: "grün & + %?" });
    const query = `${own.path}?secret=${encodeURIComponent(own.secret)}`;
    expect((await api.send("POST", query)).status).toBe(200);
    const bytes = Buffer.from(own.secret).toString("latin1");
    expect((await api.send("POST", own.path, { headers: secret(bytes) })).status).toBe(200);
  });

  test("a wrong, foreign or missing secret returns 401 and nothing is stored", async () => {
    const own = await addWebhook(sql, project);
    await refused("none", own.path, {});
    await refused("wrong", own.path, secret("wrong"));
    await refused("empty", own.path, secret(""));
    await refused("of another webhook", own.path, secret(webhook.secret));
    await refused("with a tail", own.path, secret(`${own.secret}x`));
    await refused("wrong in the query", `${own.path}?secret=wrong`, {});
    await refused("empty in the query", `${own.path}?secret=`, {});
    expect(await storedRows(sql, own)).toMatchObject({ events: 0 });
    const { body } = await api.send("POST", own.path, { headers: secret("wrong"), json: {} });
    expect(body.detail).toContain("X-Service-Webhook-Secret");
  });

  test("only the first credential that is present counts", async () => {
    const right = webhook.secret;
    await refused("header before query", `${webhook.path}?secret=${right}`, secret("wrong"));
    await refused("header before bearer", webhook.path, { ...member.headers, ...secret("wrong") });
    await refused("query before bearer", `${webhook.path}?secret=wrong`, { ...member.headers });
  });

  test("a project member may deliver by token or API key", async () => {
    const scoped = await api.key(member, { scopes: ["webhooks.deliver"], project });
    for (const as of [member, await api.key(member), scoped]) {
      expect((await api.send("POST", webhook.path, { as, json: {} })).status).toBe(200);
    }
  });

  test("a member without the permission gets 403", async () => {
    const answer = await api.post(webhook.path, {}, await api.unpermitted(project));
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ slug: "permission-denied", error: "permission-denied" });
  });
});

describe("a webhook definition", () => {
  const notFound = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await api.send("POST", path, { headers, json: {} });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ slug: "webhook-not-found", error: "webhook-not-found" });
    return withoutRequestId(answer);
  };

  test("an unknown or disabled webhook returns 404 for every credential", async () => {
    const disabled = await addWebhook(sql, project, { enabled: false });
    const unknown = await notFound("/webhooks/unknown");
    expect(await notFound(disabled.path, disabled.headers)).toEqual(unknown);
    expect(await notFound(disabled.path, { ...member.headers })).toEqual(unknown);
    expect(await notFound("/webhooks/a%00b")).toEqual(unknown);
  });

  test("a disabled webhook stores no delivery until it is enabled again", async () => {
    const own = await addWebhook(sql, project);
    expect((await deliver(own, "1")).status).toBe(200);
    await sql`UPDATE webhook_definitions SET enabled = false WHERE id = ${own.id}`;
    expect((await deliver(own, "2")).status).toBe(404);
    await sql`UPDATE webhook_definitions SET enabled = true WHERE id = ${own.id}`;
    await until(
      "a delivery to the enabled webhook is accepted",
      async () => (await deliver(own, "3")).status !== 404,
    );
    expect(await storedRows(sql, own)).toMatchObject({ events: 2 });
  });
});

describe("the payload of a delivery", () => {
  test("a JSON payload is returned exactly as it was sent, also by a repeated delivery", async () => {
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

  test("the payload of an empty body is null for every content type", async () => {
    expect((await deliver(webhook)).body.payload).toBeNull();
    expect((await deliver(webhook, undefined, {})).body.payload).toBeNull();
  });

  test("the payload of a form is the JSON in its field payload, otherwise its text", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const document = encodeURIComponent('{"zen":"a + b & c"}');
    expect((await deliver(webhook, `payload=${document}`, form)).body.payload).toEqual({
      zen: "a + b & c",
    });
    expect((await deliver(webhook, "a=1&b=2", form)).body.payload).toBe("a=1&b=2");
  });

  test("other text is a string decoded by its charset, and a duplicate only if every byte is equal", async () => {
    const plain = { "content-type": "text/plain", "idempotency-key": randomUUID() };
    expect((await deliver(webhook, '{"a": 1}', plain)).body.payload).toBe('{"a": 1}');
    expect((await deliver(webhook, '{"a":1}', plain)).status).toBe(409);
    const latin = { "content-type": "text/plain; charset=iso-8859-1" };
    const bytes = new Uint8Array([0x67, 0x72, 0xfc, 0x6e, 0x00]);
    expect((await deliver(webhook, bytes, latin)).body.payload).toBe("grün\u0000");
  });

  test("a body without a content type is JSON if it parses, otherwise text", async () => {
    for (const [text, payload] of [
      ["[1]", [1]],
      ["[1", "[1"],
    ] as const) {
      const bytes = new TextEncoder().encode(text);
      expect((await deliver(webhook, bytes, {})).body.payload).toEqual(payload);
    }
  });

  test("malformed JSON under a JSON content type returns 400 and stores nothing", async () => {
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

  test("a body above the limit returns 413", async () => {
    const answer = await deliver(webhook, `"${"x".repeat(1_100_000)}"`);
    expect([answer.status, answer.body.error]).toEqual([413, "payload-too-large"]);
  });
});

/** The headers of GitHub, which sends the secret in the query. */
function github(event: string, type: string, delivery: string) {
  return {
    "content-type": type,
    "user-agent": "GitHub-Hookshot/044aadd",
    "X-GitHub-Delivery": delivery,
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": "292430182",
    "X-Hub-Signature-256": `sha256=${"0".repeat(64)}`,
  };
}

describe("GitHub", () => {
  const events = examples.map(({ name, examples: [payload] }) => ({ name, payload }));

  test(`each of ${events.length} GitHub events is stored once, whether sent as JSON or as a form`, async () => {
    const webhook = await addWebhook(sql, project);
    const path = `${webhook.path}?secret=${webhook.secret}`;
    for (const { name, payload } of events) {
      const body = JSON.stringify(payload);
      const delivery = randomUUID();
      const asJson = await api.send("POST", path, {
        headers: github(name, "application/json", delivery),
        body,
      });
      expect([name, asJson.status, asJson.body.duplicate]).toEqual([name, 200, false]);
      expect(asJson.body.payload).toEqual(payload);
      const form = new URLSearchParams({ payload: body }).toString();
      const headers = github(name, "application/x-www-form-urlencoded", delivery);
      const redelivered = await api.send("POST", path, { headers, body: form });
      expect(redelivered.body).toEqual({ ...asJson.body, duplicate: true });
    }
    const count = events.length;
    expect(await storedRows(sql, webhook)).toEqual({
      events: count,
      messages: count,
      runs: count,
      keys: count,
    });
  });
});

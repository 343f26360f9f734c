import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";
import { deliveriesThrough, keyed } from "./webhook-deliveries.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const webhook = await addWebhook(sql, project);

const deliver = deliveriesThrough(api);

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

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addWebhook } from "../../support/webhooks.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const webhook = await addWebhook(api.sql, project);
const path = `/projects/${project.slug}/webhook-events`;

/** Delivers a payload; the id of its event. */
async function deliver(key: string, to = webhook): Promise<string> {
  const headers = { ...to.headers, "idempotency-key": key };
  const { status, body } = await api.send("POST", to.path, { json: { key }, headers });
  expect(status).toBeOneOf([200, 201, 202]);
  return body.webhook_event_id;
}

describe("GET /projects/{project_reference}/webhook-events", () => {
  test("members see each stored delivery once, newest first, and no payload", async () => {
    const first = await deliver("a");
    expect(await deliver("a")).toBe(first);
    const second = await deliver("b");
    const { body, text } = await api.get(path, member);
    expect(body.data.map(({ id }: Json) => id)).toEqual([second, first]);
    expect(body.data[1]).toMatchObject({ webhook_id: webhook.id, idempotency_key: "a" });
    expect(text).not.toContain("payload");
    const byId = await api.get(`/projects/${project.id}/webhook-events`, member);
    expect(byId.body.data).toEqual(body.data);
  });
});

describe("GET /projects/{project_reference}/webhook-events/{event_id}", () => {
  const editor = member;
  const pathOf = (id: string, of = project) => `/projects/${of.slug}/webhook-events/${id}`;

  test("owners and editors see the payload as it was sent, with all digits of its numbers", async () => {
    const sent = '{"n": 12345678901234567890.10, "t": "ü"}';
    const headers = { ...webhook.headers, "content-type": "application/json" };
    const { body } = await api.send("POST", webhook.path, { body: sent, headers });
    const answer = await api.get(pathOf(body.webhook_event_id), editor);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("12345678901234567890.10");
    const { payload, run_id, is_json, ...rest } = answer.body;
    expect([payload.t, run_id, is_json]).toEqual(["ü", body.run_id, true]);
    const listed = (await api.get(path, member)).body.data;
    expect(listed).toContainEqual(rest);
  });

  test("a payload that is not JSON is returned as a string", async () => {
    const headers = { ...webhook.headers, "content-type": "text/plain" };
    const { body } = await api.send("POST", webhook.path, { body: "deployed", headers });
    const answer = await api.get(pathOf(body.webhook_event_id), editor);
    expect(answer.body).toMatchObject({ is_json: false, payload: "deployed" });
  });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addWebhook } from "../../support/webhooks.ts";

const api = await sharedApi();
const member = await api.user();
const project = await api.project(member);
const webhook = await addWebhook(api.sql, project);
const path = `/projects/${project.slug}/webhook-events`;

/** Delivers a payload; the id of its event. */
async function deliver(key: string, to = webhook): Promise<string> {
  const headers = { ...to.headers, "idempotency-key": key };
  const { status, body } = await api.send("POST", to.path, { json: { key }, headers });
  expect(status).toBeOneOf([200, 201, 202]);
  return body.webhook_event_id;
}

/** Follows `next` to the last page and returns the ids of each page. */
async function pages(from: string, as: Caller): Promise<string[][]> {
  const found: string[][] = [];
  for (let next: string | null = from; next !== null; ) {
    const { status, body }: Json = await api.get(next, as);
    expect(status).toBe(200);
    found.push(body.data.map(({ id }: Json) => id));
    next = body.page_info.next;
  }
  return found;
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

  test("pages of any size list every event once, also those of one microsecond, and lead back", async () => {
    const own = await api.project(member);
    const hook = await addWebhook(api.sql, own);
    const ids: string[] = [];
    for (const key of ["1", "2", "3", "4", "5"]) ids.push(await deliver(key, hook));
    await api.sql`UPDATE webhook_events SET received_at = '2026-01-01T00:00:00.123457Z'
      WHERE id = ANY (${ids.slice(1, 4)})`;
    const from = `/projects/${own.slug}/webhook-events`;
    for (const limit of [1, 2, 5, 100]) {
      const found = await pages(`${from}?limit=${limit}`, member);
      expect(found.flat().sort()).toEqual([...ids].sort());
      expect(found).toHaveLength(Math.ceil(ids.length / limit));
    }
    const start = (await api.get(`${from}?limit=2`, member)).body;
    const second = (await api.get(start.page_info.next, member)).body;
    expect((await api.get(second.page_info.prev, member)).body.data).toEqual(start.data);
  });

  test("a project without deliveries has an empty page, and the cursor of another project is invalid", async () => {
    const empty = await api.project(member);
    const { body } = await api.get(`/projects/${empty.slug}/webhook-events`, member);
    expect(body).toMatchObject({ data: [], page_info: { next: null, prev: null } });
    await deliver("c");
    const { next } = (await api.get(`${path}?limit=1`, member)).body.page_info;
    const foreign = await api.get(next.replace(project.slug, empty.slug), member);
    expect([foreign.status, foreign.body.slug]).toEqual([400, "invalid-cursor"]);
  });

  test("a page size that is no number from 1 to 100 is refused by name", async () => {
    const answer = await api.get(`${path}?limit=0`, member);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("limit");
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

  test("members who only read are answered 403, and events of other projects 404", async () => {
    const id = await deliver("forbidden");
    const reader = await api.user();
    await api.join(reader, project);
    const refused = await api.get(pathOf(id), reader);
    expect([refused.status, refused.body.slug]).toEqual([403, "permission-denied"]);
    const other = await api.project(member);
    for (const foreign of [pathOf(id, other), pathOf(randomUUID())]) {
      const { status, body } = await api.get(foreign, member);
      expect([status, body.slug]).toEqual([404, "webhook-event-not-found"]);
    }
    const invalid = await api.get(pathOf("1"), member);
    expect([invalid.status, invalid.body.errors[0].field]).toEqual([400, "event_id"]);
  });
});

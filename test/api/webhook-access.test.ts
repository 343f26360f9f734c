import { describe, expect, test } from "bun:test";
import { sharedApi, withoutRequestId } from "../../support/api/api.ts";
import { until } from "../../support/until.ts";
import { addWebhook, orphanRows, storedRows } from "../../support/webhooks.ts";
import { deliveriesThrough } from "./webhook-deliveries.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
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

  test("deleting a project deletes its webhooks and their events", async () => {
    const gone = await api.project(member);
    const own = await addWebhook(sql, gone);
    await deliver(own, "1");
    await sql`DELETE FROM projects WHERE id = ${gone.id}`;
    expect(await storedRows(sql, own)).toMatchObject({ events: 0 });
    expect(await orphanRows(sql)).toBe(0);
  });
});

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { addConversation } from "../../support/content.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { uncountedIn } from "../../support/quotas.ts";
import { orphanRows } from "../../support/webhooks.ts";

const api = await sharedApi();
const { sql } = api;
const { owner, project } = await api.ownedProject();
const path = `/projects/${project.slug}/webhooks`;
const create = (json: object, as = owner) => api.post(path, json, as);
const remove = (id: string) =>
  api.send("DELETE", `${path}/${encodeURIComponent(id)}`, { as: owner });
const deliver = (id: string, secret: string, key?: string) =>
  api.send("POST", `/webhooks/${encodeURIComponent(id)}`, {
    headers: {
      "x-service-webhook-secret": secret,
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    json: { pushed: true },
  });

describe("POST /projects/{project_reference}/webhooks", () => {
  test("a secret that is not given is made, works at once, and is shown in no other answer", async () => {
    const id = `made-${project.id}`;
    expect((await deliver(id, "x")).status).toBe(404);
    const { status, body } = await create({ id });
    const { secret, ...webhook } = body;
    expect([status, webhook]).toEqual([
      201,
      { id, enabled: true, conversation_id: null, created_at: expect.any(String) },
    ]);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await deliver(id, secret)).status).toBe(200);
    expect((await deliver(id, `${secret}x`)).status).toBe(401);
    const listed = await api.get(path, owner);
    expect(listed.body.data).toContainEqual(webhook);
    expect(listed.text).not.toContain(secret);
    const [row] = await sql`SELECT d::text AS text FROM webhook_definitions d WHERE name = ${id}`;
    expect(row?.["text"]).not.toContain(secret);
    const audit = await sql`SELECT details::text FROM audit_log WHERE project_id = ${project.id}`;
    expect(JSON.stringify(audit)).not.toContain(secret);
    expect((await create({ id: `${id}-2` })).body.secret).not.toBe(secret);
  });

  test("a given secret is not repeated, and one that is disabled takes no deliveries", async () => {
    const id = `given-${project.id}`;
    const { status, body, text } = await create({ id, secret: "a söcret", enabled: false });
    expect([status, body.enabled]).toEqual([201, false]);
    expect(text).not.toContain("söcret");
    expect((await deliver(id, "a")).status).toBe(404);
  });

  test("deliveries go to a conversation of the project, and to no other one", async () => {
    const id = `into-${project.id}`;
    const conversation = await addConversation(sql, owner, project);
    const elsewhere = await addConversation(sql, owner, await api.project(owner));
    const ofUser = await addConversation(sql, owner);
    for (const conversation_id of [elsewhere, ofUser, crypto.randomUUID()]) {
      const { status, body } = await create({ id, conversation_id });
      expect([status, body.slug]).toEqual([404, "conversation-not-found"]);
    }
    const { body } = await create({ id, conversation_id: conversation });
    expect(body.conversation_id).toBe(conversation);
    expect((await deliver(id, body.secret)).body.conversation_id).toBe(conversation);
  });

  test("an id that is taken is answered 409, also when two ask at once, and others may have it", async () => {
    const id = `twice-${project.id}`;
    const answers = await Promise.all([create({ id }), create({ id })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const again = await create({ id });
    expect([again.status, again.body.slug]).toEqual([409, "webhook-id-taken"]);
    const other = await api.project(owner);
    const theirs = await api.post(`/projects/${other.slug}/webhooks`, { id }, owner);
    expect(theirs.status).toBe(201);
    expect((await deliver(id, theirs.body.secret)).body.project_id).toBe(other.id);
  });

  test("an id that no path can have, and fields of other types, are refused by name", async () => {
    for (const id of ["", ".", "..", " ", "x".repeat(129), "a\0b", 7, undefined]) {
      const { status, body } = await create({ id });
      expect([status, body.errors[0].field]).toEqual([400, "id"]);
    }
    const others = { secret: "", enabled: "yes", conversation_id: "none" };
    for (const [field, value] of Object.entries(others)) {
      const { status, body } = await create({ id: "x", [field]: value });
      expect([status, body.errors[0].field]).toEqual([400, field]);
    }
  });
});

describe("DELETE /projects/{project_reference}/webhooks/{webhook_id}", () => {
  test("it ends deliveries and their keys at once, and leaves their conversations", async () => {
    const id = `gone/${project.id}`;
    const before = await uncountedIn(sql, project.id);
    const { secret } = (await create({ id })).body;
    const delivered = await deliver(id, secret, "a-key");
    const answer = await remove(id);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await deliver(id, secret)).body.slug).toBe("webhook-not-found");
    expect((await remove(id)).body.slug).toBe("webhook-not-found");
    const kept = await api.get(`/conversations/${delivered.body.conversation_id}/tree`, owner);
    expect(kept.body.items).toHaveLength(1);
    expect(await uncountedIn(sql, project.id)).toBe(before);
    const again = (await create({ id })).body;
    const fresh = await deliver(id, again.secret, "a-key");
    expect([fresh.body.duplicate, fresh.body.latest_event_id]).toEqual([false, 1]);
  });

  test("a delivery while it is deleted is stored as a whole, or answered 404", async () => {
    const id = `raced-${project.id}`;
    const { secret } = (await create({ id })).body;
    const before = await orphanRows(sql);
    const late = await beforeCommit(
      sql,
      (tx) => tx`DELETE FROM webhook_definitions WHERE name = ${id}`,
      () => deliver(id, secret, "a-key"),
    );
    expect([late.status, late.body.slug]).toEqual([404, "webhook-not-found"]);
    expect(await orphanRows(sql)).toBe(before);
  });

  test("a webhook of the same id in another project stays", async () => {
    const id = `both-${project.id}`;
    const other = await api.project(owner);
    await create({ id });
    const theirs = await api.post(`/projects/${other.slug}/webhooks`, { id }, owner);
    await remove(id);
    expect((await deliver(id, theirs.body.secret)).status).toBe(200);
  });
});

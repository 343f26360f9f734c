import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type Caller, sharedApi, type TestKey, withoutRequestId } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { owner: user, project } = await api.ownedProject();

/** Creates keys of these names. */
async function create(as: Caller, ...names: string[]): Promise<void> {
  for (const name of names) expect((await api.post("/api-keys", { name }, as)).status).toBe(201);
}

const revoke = (key: { id: string }, as: Caller) =>
  api.send("DELETE", `/api-keys/${key.id}`, { as });

async function works(key: TestKey): Promise<boolean> {
  return (await api.get(`/projects`, key)).status === 200;
}

describe("DELETE /api-keys/{id}", () => {
  test("a revoked key stops working, and GET answers 404", async () => {
    const key = await api.key(user);
    expect(await works(key)).toBe(true);
    const answer = await revoke(key, user);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    await until(
      "the revoked key is refused",
      async () => (await api.get("/projects", key)).status === 401,
    );
    expect((await api.get(`/api-keys/${key.id}`, user)).status).toBe(404);
  });

  test("revoking a key again succeeds and changes nothing, so a lost answer can be retried", async () => {
    const key = await api.key(user);
    const both = await Promise.all([revoke(key, user), revoke(key, user)]);
    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    const state = async () => [
      await api.sql`SELECT * FROM api_keys WHERE id = ${key.id}`,
      await api.sql`SELECT id FROM audit_log WHERE action = 'key.revoked' AND details ->> 'key' = ${key.id}`,
    ];
    const before = await state();
    expect(before[1]).toHaveLength(1);
    expect((await revoke(key, user)).status).toBe(204);
    expect(await state()).toEqual(before);
    expect((await revoke(key, await api.user())).status).toBe(404);
  });

  test("users revoke their keys by an id in either case, and with a key itself", async () => {
    const key = await api.key(user);
    expect((await revoke({ id: key.id.toUpperCase() }, user)).status).toBe(204);
    const own = await api.key(user);
    expect((await revoke(own, own)).status).toBe(204);
  });

  test("owners of a project revoke the keys that others have bound to it, and no other keys", async () => {
    const colleague = await api.user();
    await api.join(colleague, project, "editor");
    const bound = await api.key(colleague, { project });
    const unbound = await api.key(colleague);
    const elsewhere = await api.key(colleague, { project: await api.project(colleague) });
    expect((await revoke(unbound, user)).status).toBe(404);
    expect((await revoke(elsewhere, user)).status).toBe(404);
    expect((await revoke(bound, user)).status).toBe(204);
    expect(await works(unbound)).toBe(true);
    expect(await works(elsewhere)).toBe(true);
  });

  test("members who are not owners cannot distinguish a colleague's key from an unknown one", async () => {
    const bound = await api.key(user, { project });
    const unknown = await revoke({ id: randomUUID() }, user);
    expect(unknown.status).toBe(404);
    expect(unknown.body.slug).toBe("api-key-not-found");
    for (const role of ["editor", "member"]) {
      const colleague = await api.user();
      await api.join(colleague, project, role);
      const answer = await revoke(bound, colleague);
      expect(withoutRequestId(answer)).toEqual(withoutRequestId(unknown));
    }
    const stranger = await revoke(bound, await api.user());
    expect(withoutRequestId(stranger)).toEqual(withoutRequestId(unknown));
    expect(await works(bound)).toBe(true);
  });

  test("a key that is bound to a project revokes only keys of that project", async () => {
    const bound = await api.key(user, { project });
    const sibling = await api.key(user, { project });
    const unbound = await api.key(user);
    const other = await api.key(user, { project: await api.project(user) });
    expect((await revoke(unbound, bound)).status).toBe(404);
    expect((await revoke(other, bound)).status).toBe(404);
    expect((await revoke(sibling, bound)).status).toBe(204);
  });
});

const key = await api.key(user);
const path = `/api-keys/${key.id}`;

describe("GET /api-keys/{id}", () => {
  test("users read their own keys without the secret, by an id in either case", async () => {
    const answer = await api.get(`/api-keys/${key.id.toUpperCase()}`, user);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: key.id,
      project_id: null,
      user_id: user.userId,
      name: "a key",
      key_prefix: key.key.split("_").slice(0, 2).join("_"),
      last_used_at: null,
      expires_at: null,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
      scopes: [],
    });
    expect(answer.text).not.toContain(key.key);
  });

  test("a key with a project, an expiry and scopes returns them", async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const full = await api.key(user, { project, scopes: ["chunks.read"], expiresAt });
    const { body } = await api.get(`/api-keys/${full.id}`, user);
    expect(body).toMatchObject({
      project_id: project.id,
      scopes: ["chunks.read"],
      expires_at: expiresAt.toISOString(),
    });
  });

  test("a key reads all keys of its user, a key bound to a project only those of the project", async () => {
    const bound = await api.key(user, { project });
    const sibling = await api.key(user, { project });
    const other = await api.key(user, { project: await api.project(user) });
    expect((await api.get(path, await api.key(user))).status).toBe(200);
    expect((await api.get(`/api-keys/${sibling.id}`, bound)).status).toBe(200);
    expect((await api.get(path, bound)).status).toBe(404);
    expect((await api.get(`/api-keys/${other.id}`, bound)).status).toBe(404);
  });

  test("another user's key returns the same 404 as an unknown key, also for members of its project", async () => {
    const colleague = await api.user();
    await api.join(colleague, project);
    const bound = await api.key(user, { project });
    const madeUp = await api.get(`/api-keys/${randomUUID()}`, colleague);
    expect(madeUp.status).toBe(404);
    expect(madeUp.body.slug).toBe("api-key-not-found");
    for (const id of [key.id, bound.id]) {
      const answer = await api.get(`/api-keys/${id}`, colleague);
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer)).toEqual(withoutRequestId(madeUp));
    }
  });
});

describe("GET /api-keys", () => {
  test("users see their own keys in order of name, without secrets, as reading each returns them", async () => {
    const user = await api.user();
    await create(user, "b", "Z", "a");
    await create(await api.user(), "of another user");
    const { text, body } = await api.get("/api-keys", user);
    expect(body.data.map(({ name }: Json) => name)).toEqual(["Z", "a", "b"]);
    expect(text).not.toContain('"key":');
    for (const key of body.data) {
      expect((await api.get(`/api-keys/${key.id}`, user)).body).toEqual(key);
    }
  });

  test("an expired key is listed, and a revoked one is not", async () => {
    const user = await api.user();
    const expired = await api.key(user, { expiresAt: new Date(Date.now() - 1_000) });
    const revoked = await api.key(user);
    await api.send("DELETE", `/api-keys/${revoked.id}`, { as: user });
    const { body } = await api.get("/api-keys", user);
    expect(body.data.map(({ id }: Json) => id)).toEqual([expired.id]);
  });

  test("a key that is bound to a project lists the keys of that project alone", async () => {
    const { owner: user, project } = await api.ownedProject();
    await api.key(user);
    const bound = await api.key(user, { project });
    const { body } = await api.get("/api-keys", bound);
    expect(body.data.map(({ id }: Json) => id)).toEqual([bound.id]);
  });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { type Caller, sharedApi, type TestKey, withoutRequestId } from "../../support/api/api.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const user = await api.user();
const project = await api.project(user);

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

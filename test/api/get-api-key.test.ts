import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi, withoutRequestId } from "../../support/api/api.ts";

const api = await sharedApi();
const user = await api.user();
const project = await api.project(user);
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

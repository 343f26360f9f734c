import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApi, withoutRequestId } from "../support/api.ts";
import { refusesBadCredentials } from "../support/guards.ts";

const api = await startApi();
const user = await api.user();
const project = await api.project(user);
const key = await api.key(user);
const path = `/api-keys/${key.id}`;

describe("GET /api-keys/{id}", () => {
  test("its user reads it, without its secret, in either case of the id", async () => {
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

  test("project, end and scopes are answered where there are some", async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const full = await api.key(user, { project, scopes: ["chunks.read"], expiresAt });
    const { body } = await api.get(`/api-keys/${full.id}`, user);
    expect(body).toMatchObject({
      project_id: project.id,
      scopes: ["chunks.read"],
      expires_at: expiresAt.toISOString(),
    });
  });

  test("a key reads its user's keys; a project-bound one those of its project", async () => {
    const bound = await api.key(user, { project });
    const sibling = await api.key(user, { project });
    const other = await api.key(user, { project: await api.project(user) });
    expect((await api.get(path, await api.key(user))).status).toBe(200);
    expect((await api.get(`/api-keys/${sibling.id}`, bound)).status).toBe(200);
    expect((await api.get(path, bound)).status).toBe(404);
    expect((await api.get(`/api-keys/${other.id}`, bound)).status).toBe(404);
  });

  test("somebody else's key answers exactly like one that does not exist, members' too", async () => {
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

  test("an id that is no UUID answers 400 and names the parameter", async () => {
    for (const id of ["none", "%00", `${key.id}0`]) {
      const answer = await api.get(`/api-keys/${id}`, user);
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toEqual([{ field: "id", message: "must be a valid uuid" }]);
    }
  });

  test("a caller without the permission answers 403", async () => {
    const scoped = await api.key(user, { scopes: ["api_keys.create"] });
    expect((await api.get(path, scoped)).status).toBe(403);
  });

  refusesBadCredentials({ api, path });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { parseKey } from "../../src/auth/key-format.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: user, project } = await api.ownedProject();

const create = (json: Json, as: Caller) => api.post("/api-keys", json, as);
const keyCaller = (body: Json): Caller => ({
  userId: body.user_id,
  headers: { "x-api-key": body.key },
});

describe("POST /api-keys", () => {
  test("a new key works immediately and acts as its creator", async () => {
    const answer = await create({ name: "mine" }, user);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      user_id: user.userId,
      name: "mine",
      key: expect.stringMatching(/^tsr_[0-9A-Za-z]{8,}_[0-9A-Za-z]{32,}$/),
      key_prefix: expect.any(String),
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      scopes: [],
    });
    expect(parseKey(answer.body.key)?.keyPrefix).toBe(answer.body.key_prefix);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const key = keyCaller(answer.body);
    const read = await api.get(answer.headers.get("location") as string, key);
    expect(read.body.id).toBe(answer.body.id);
    const bearer = { ...key, headers: { authorization: `Bearer ${answer.body.key}` } };
    expect((await api.get(`/projects/${project.slug}/chunks`, bearer)).status).toBe(200);
  });

  test("only a hash of the key is stored", async () => {
    const { body } = await create({ name: "hashed" }, user);
    const [row] = await sql`SELECT api_keys::text AS row FROM api_keys WHERE id = ${body.id}`;
    expect(row?.row).toContain(body.key_prefix);
    expect(row?.row).not.toContain(body.key.slice(body.key_prefix.length + 1));
  });

  test("a key is created with project, scopes and expiry, with times in UTC", async () => {
    const { body } = await create(
      {
        name: "n",
        project_id: project.id.toUpperCase(),
        scopes: ["chunks.read", "anything.of-ours", "chunks.read"],
        expires_at: "2999-12-31T23:00:00-01:00",
      },
      user,
    );
    expect(body.project_id).toBe(project.id);
    expect(body.scopes).toEqual(["chunks.read", "anything.of-ours"]);
    expect(body.expires_at).toBe("3000-01-01T00:00:00.000Z");
    const key = keyCaller(body);
    expect((await api.get(`/projects/${project.slug}/chunks`, key)).status).toBe(200);
    expect((await api.get(`/api-keys/${body.id}`, key)).status).toBe(403);
  });

  test("a user known only by a token can create keys", async () => {
    const fresh = await api.token(randomUUID());
    const { status, body } = await create({ name: "first" }, fresh);
    expect(status).toBe(201);
    expect((await api.get(`/api-keys/${body.id}`, keyCaller(body))).status).toBe(200);
  });

  test("only a caller with account permissions can give them to a key", async () => {
    const scopes = ["account.billing.manage"];
    const plain = await create({ name: "n", scopes }, user);
    expect(plain.status).toBe(403);
    expect(plain.body.slug).toBe("permission-denied");
    const manager = await api.user({ permissions: scopes });
    const given = await create({ name: "n", scopes }, manager);
    expect(given.body.scopes).toEqual(scopes);
    const unscoped = keyCaller((await create({ name: "n" }, manager)).body);
    expect((await create({ name: "n", scopes }, unscoped)).status).toBe(403);
  });

  test("a key with scopes creates keys with those scopes or some of them", async () => {
    const scoped = await api.key(user, { scopes: ["api_keys.create", "chunks.read"] });
    expect((await create({ name: "n" }, scoped)).body.scopes).toEqual([
      "api_keys.create",
      "chunks.read",
    ]);
    expect((await create({ name: "n", scopes: [] }, scoped)).body.scopes).toHaveLength(2);
    expect((await create({ name: "n", scopes: ["chunks.read"] }, scoped)).status).toBe(201);
    expect((await create({ name: "n", scopes: ["search.query"] }, scoped)).status).toBe(403);
  });

  test("a key bound to a project creates keys for that project only", async () => {
    const bound = await api.key(user, { project });
    expect((await create({ name: "n" }, bound)).body.project_id).toBe(project.id);
    expect((await create({ name: "n", project_id: project.id }, bound)).status).toBe(201);
    const other = await api.project(user);
    const answer = await create({ name: "n", project_id: other.id }, bound);
    expect(answer.status).toBe(404);
    expect(answer.body.slug).toBe("project-not-found");
  });

  test("a key with an expiry creates no key that outlives it", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const ending = await api.key(user, { expiresAt });
    expect((await create({ name: "n" }, ending)).body.expires_at).toBe(expiresAt.toISOString());
    const sooner = new Date(expiresAt.getTime() - 60_000).toISOString();
    expect((await create({ name: "n", expires_at: sooner }, ending)).body.expires_at).toBe(sooner);
    const later = new Date(expiresAt.getTime() + 60_000).toISOString();
    expect((await create({ name: "n", expires_at: later }, ending)).status).toBe(403);
  });

  test("a key that is revoked meanwhile creates no other key", async () => {
    const leaving = await api.key(user);
    const answer = await beforeCommit(
      sql,
      (tx) => tx`UPDATE api_keys SET revoked_at = now() WHERE id = ${leaving.id}`,
      () => create({ name: "too late" }, leaving),
    );
    expect([answer.status, answer.body.slug]).toEqual([401, "unauthorized"]);
    expect(await sql`SELECT FROM api_keys WHERE name = 'too late'`).toHaveLength(0);
  });

  test("creating a key for an unknown or a foreign project returns the same 404", async () => {
    const foreign = await api.project(await api.user());
    for (const id of [foreign.id, randomUUID()]) {
      const answer = await create({ name: "n", project_id: id }, user);
      expect(answer.status).toBe(404);
      expect(answer.body.slug).toBe("project-not-found");
    }
  });

  test("the project of a key is given by id, or else by slug", async () => {
    const named = await api.project(user);
    const { status, body } = await create({ name: "n", project_id: named.slug }, user);
    expect([status, body.project_id]).toEqual([201, named.id]);
  });

  test("an invalid key request returns 400, names the field and creates nothing", async () => {
    const wrong: Array<[Json, string]> = [
      [{ name: "n", scopes: ["chunks.read", ""] }, "scopes[1]"],
      [{ name: "n", scopes: ["with space"] }, "scopes[0]"],
      [{ name: "n", expires_at: "2999-02-30T00:00:00Z" }, "expires_at"],
      [{ name: "n", expires_at: "2999-01-01" }, "expires_at"],
      [{ name: "n", expires_at: "2001-01-01T00:00:00Z" }, "expires_at"],
      [{ name: "n", expires_at: "2016-12-31T23:59:60Z" }, "expires_at"],
    ];
    const nobody = await api.user();
    for (const [json, field] of wrong) {
      const answer = await create(json, nobody);
      expect(answer.status, JSON.stringify(json)).toBe(400);
      expect(answer.body.errors.map((error: Json) => error.field)).toContain(field);
    }
    const keys = await sql`SELECT 1 FROM api_keys WHERE user_id = ${nobody.userId}`;
    expect(keys).toHaveLength(0);
  });

  test("an expiry may have lower-case letters and leap seconds", async () => {
    for (const expires_at of ["2999-01-01t00:00:00z", "2998-12-31T23:59:60Z"]) {
      expect((await create({ name: "n", expires_at }, user)).status).toBe(201);
    }
  });
});

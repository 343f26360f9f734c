import { describe, expect, test } from "bun:test";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const path = "/api-keys";

/** Creates keys of these names. */
async function create(as: Caller, ...names: string[]): Promise<void> {
  for (const name of names) expect((await api.post(path, { name }, as)).status).toBe(201);
}

describe("GET /api-keys", () => {
  test("users see their own keys in order of name, without secrets, as reading each returns them", async () => {
    const user = await api.user();
    await create(user, "b", "Z", "a");
    await create(await api.user(), "of another user");
    const { text, body } = await api.get(path, user);
    expect(body.data.map(({ name }: Json) => name)).toEqual(["Z", "a", "b"]);
    expect(text).not.toContain('"key":');
    for (const key of body.data) {
      expect((await api.get(`${path}/${key.id}`, user)).body).toEqual(key);
    }
  });

  test("an expired key is listed, and a revoked one is not", async () => {
    const user = await api.user();
    const expired = await api.key(user, { expiresAt: new Date(Date.now() - 1_000) });
    const revoked = await api.key(user);
    await api.send("DELETE", `${path}/${revoked.id}`, { as: user });
    const { body } = await api.get(path, user);
    expect(body.data.map(({ id }: Json) => id)).toEqual([expired.id]);
  });

  test("a key that is bound to a project lists the keys of that project alone", async () => {
    const user = await api.user();
    const project = await api.project(user);
    await api.key(user);
    const bound = await api.key(user, { project });
    const { body } = await api.get(path, bound);
    expect(body.data.map(({ id }: Json) => id)).toEqual([bound.id]);
  });
});

import { describe, expect, test } from "bun:test";
import { PAGE_DEFAULT } from "../../src/shared/limits.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const path = "/api-keys";

/** Creates keys of these names. */
async function create(as: Caller, ...names: string[]): Promise<void> {
  for (const name of names) expect((await api.post(path, { name }, as)).status).toBe(201);
}

/** Follows `next` to the last page and returns the names of each page. */
async function pages(from: string, as: Caller): Promise<string[][]> {
  const found: string[][] = [];
  for (let next: string | null = from; next !== null; ) {
    const { status, body }: Json = await api.get(next, as);
    expect(status).toBe(200);
    found.push(body.data.map(({ name }: Json) => name));
    next = body.page_info.next;
  }
  return found;
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

  test("pages of any size list every key once, keys of one name too, and lead back", async () => {
    const user = await api.user();
    const names = ["k", "k", "k", "l", "m"];
    await create(user, ...names);
    for (const limit of [1, 2, 5, 100]) {
      const found = await pages(`${path}?limit=${limit}`, user);
      expect(found.flat()).toEqual(names);
      expect(found).toHaveLength(Math.ceil(names.length / limit));
    }
    const first = (await api.get(`${path}?limit=2`, user)).body;
    const second = (await api.get(first.page_info.next, user)).body;
    expect((await api.get(second.page_info.prev, user)).body.data).toEqual(first.data);
  });

  test("without a limit a page has the default size", async () => {
    const user = await api.user();
    await api.sql`
      INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
      SELECT gen_random_uuid(), ${user.userId}, 'k', 'tsr_' || i || left(${user.userId}, 8),
        sha256(convert_to(i || ${user.userId}, 'UTF8'))
      FROM generate_series(1, ${PAGE_DEFAULT + 1}::integer) i`;
    const { body } = await api.get(path, user);
    expect(body.data).toHaveLength(PAGE_DEFAULT);
    expect(body.page_info.next).toContain(`limit=${PAGE_DEFAULT}`);
  });

  test("a key that is bound to a project lists the keys of that project alone", async () => {
    const user = await api.user();
    const project = await api.project(user);
    await api.key(user);
    const bound = await api.key(user, { project });
    const { body } = await api.get(path, bound);
    expect(body.data.map(({ id }: Json) => id)).toEqual([bound.id]);
  });

  test("another caller's cursor is an invalid cursor, and another page size is refused by name", async () => {
    const user = await api.user();
    await create(user, "a", "b");
    const { next } = (await api.get(`${path}?limit=1`, user)).body.page_info;
    const bound = await api.key(user, { project: await api.project(user) });
    for (const caller of [await api.user(), bound]) {
      const foreign = await api.get(next, caller);
      expect([foreign.status, foreign.body.slug]).toEqual([400, "invalid-cursor"]);
    }
    const answer = await api.get(`${path}?limit=0`, user);
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, "limit"]);
  });
});

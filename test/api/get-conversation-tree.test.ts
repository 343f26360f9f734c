import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { TREE_MAX_BYTES, TREE_MAX_MESSAGES } from "../../src/shared/limits.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addConversation, addMessages } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const conversation = await addConversation(sql, member, project);
const ids = await addMessages(sql, conversation, 3);
const path = `/conversations/${conversation}/tree`;

describe("GET /conversations/{id}/tree", () => {
  test("a member reads all messages in order of seq, including branches", async () => {
    const branch = randomUUID();
    await sql`
      INSERT INTO messages (id, conversation_id, parent_id, seq, role, parts)
      VALUES (${branch}, ${conversation}, ${ids[0] as string}, 4, 'user', '[]')`;
    const answer = await api.get(path, await api.key(member, { project }));
    expect(answer.status).toBe(200);
    expect(answer.body.truncated).toBe(false);
    expect(answer.body.items.map((item: Json) => item.id)).toEqual([...ids, branch]);
    expect(answer.body.items.map((item: Json) => item.parent_id)).toEqual([
      undefined,
      ids[0],
      ids[1],
      ids[0],
    ]);
  });

  test("a message in the tree equals the message read alone", async () => {
    const [item] = (await api.get(path, member)).body.items;
    const alone = await api.get(`/conversations/${conversation}/messages/${item.id}`, member);
    expect(item).toEqual(alone.body);
  });

  test("a conversation without messages has an empty tree", async () => {
    const empty = await addConversation(sql, member, project);
    const { body } = await api.get(`/conversations/${empty}/tree`, member);
    expect(body).toEqual({ items: [], truncated: false });
  });

  test("a tree at the message limit is complete, and a larger one is truncated", async () => {
    const big = await addConversation(sql, member, project);
    await addMessages(sql, big, TREE_MAX_MESSAGES);
    const whole = (await api.get(`/conversations/${big}/tree`, member)).body;
    expect(whole.items).toHaveLength(TREE_MAX_MESSAGES);
    expect(whole.truncated).toBe(false);
    await sql`
      INSERT INTO messages (id, conversation_id, seq, role)
      VALUES (${randomUUID()}, ${big}, ${TREE_MAX_MESSAGES + 1}, 'user')`;
    const cut = (await api.get(`/conversations/${big}/tree`, member)).body;
    expect(cut).toEqual({ items: whole.items, truncated: true });
  });

  test("a tree of long messages is truncated before its answer takes much memory", async () => {
    const long = await addConversation(sql, member, project);
    const chars = TREE_MAX_BYTES / 8;
    await sql`
      INSERT INTO messages (id, conversation_id, seq, role, parts)
      SELECT gen_random_uuid(), ${long}, seq, 'user',
        jsonb_build_array(jsonb_build_object('text', repeat('x', CASE seq WHEN 1 THEN 0 ELSE ${chars} END)))
      FROM generate_series(1, 20) seq`;
    const { text, body } = await api.get(`/conversations/${long}/tree`, member);
    expect(body.items.map(({ seq }: Json) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(body.truncated).toBe(true);
    expect(text.length).toBeLessThan(1.1 * TREE_MAX_BYTES);
    await sql`
      UPDATE messages SET parts = jsonb_build_array(jsonb_build_object('text',
        repeat('x', ${TREE_MAX_BYTES + 1}))) WHERE conversation_id = ${long} AND seq = 1`;
    const one = (await api.get(`/conversations/${long}/tree`, member)).body;
    expect([one.items.length, one.truncated]).toEqual([1, true]);
  });
});

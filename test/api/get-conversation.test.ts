import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { TREE_MAX_BYTES, TREE_MAX_MESSAGES } from "../../src/domain/limits.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addConversation, addMessages } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const conversation = await addConversation(sql, member, project);
const ids = (await addMessages(sql, conversation, 3)) as [string, string, string];

describe("GET /conversations/{id}", () => {
  test("absent fields of a conversation are omitted, except that metadata is null", async () => {
    const id = await addConversation(sql, member, project);
    const { body } = await api.get(`/conversations/${id}`, await api.key(member, { project }));
    expect(body).toEqual({
      id,
      project_id: project.id,
      type: "chat",
      status: "active",
      title: "A conversation",
      message_count: 0,
      metadata: null,
      created_by: member.userId,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
  });

  test("every field of a conversation is returned", async () => {
    const full = await addConversation(sql, member, project);
    await sql`
      UPDATE conversations SET summary = 's', current_node = 'n', metadata = ${sql.json({ a: [1] })},
        agent_id = 'a', runtime_target_kind = 'k', runtime_target_environment_id = 'e',
        runtime_target_branch_id = 'b', last_message_at = '2026-01-02T03:04:05.678Z',
        archived_at = '2026-01-02T03:04:05Z' WHERE id = ${full}`;
    const { body } = await api.get(`/conversations/${full}`, member);
    expect(body).toMatchObject({
      summary: "s",
      current_node: "n",
      metadata: { a: [1] },
      agent_id: "a",
      runtime_target_kind: "k",
      runtime_target_environment_id: "e",
      runtime_target_branch_id: "b",
      last_message_at: "2026-01-02T03:04:05.678Z",
      archived_at: "2026-01-02T03:04:05.000Z",
    });
  });

  test("a conversation without a project is visible only to the creator", async () => {
    const own = `/conversations/${await addConversation(sql, member)}`;
    const colleague = await api.user();
    await api.join(colleague, project);
    expect((await api.get(own, member)).body.project_id).toBeUndefined();
    expect((await api.get(own, await api.key(member))).status).toBe(200);
    expect((await api.get(own, await api.key(member, { project }))).status).toBe(404);
    expect((await api.get(own, colleague)).body.slug).toBe("conversation-not-found");
  });

  test("creators lose access to a conversation with their project membership", async () => {
    const former = await api.user();
    await api.join(former, project);
    const made = `/conversations/${await addConversation(sql, former, project)}`;
    expect((await api.get(made, former)).status).toBe(200);
    await sql`DELETE FROM memberships WHERE user_id = ${former.userId}`;
    expect((await api.get(made, former)).status).toBe(404);
  });
});

describe("GET /conversations/{id}/tree", () => {
  const path = `/conversations/${conversation}/tree`;

  test("a member reads all messages in order of seq, including branches", async () => {
    const branch = randomUUID();
    await sql`
      INSERT INTO messages (id, conversation_id, parent_id, seq, role, parts)
      VALUES (${branch}, ${conversation}, ${ids[0]}, 4, 'user', '[]')`;
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

describe("GET /conversations/{conversation_id}/messages/{message_id}", () => {
  const [first, second] = ids;

  test("a member reads a message, with ids in either case", async () => {
    const answer = await api.get(
      `/conversations/${conversation.toUpperCase()}/messages/${second.toUpperCase()}`,
      await api.key(member, { project }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: second,
      conversation_id: conversation,
      parent_id: first,
      seq: 2,
      role: "assistant",
      parts: [{ type: "text", text: "message 2" }],
      status: "completed",
      token_usage: null,
      metadata: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test("every field of a message is returned", async () => {
    await sql`
      UPDATE messages SET created_by = 'u', model = 'm', token_usage = ${sql.json({ input: 1 })},
        finish_reason = 'stop', cost_credits = '0.25', idempotency_key = 'k',
        metadata = ${sql.json({ a: null })}, updated_at = '2026-01-02T03:04:05Z',
        edited_at = '2026-01-02T03:04:06Z' WHERE id = ${first}`;
    const { body } = await api.get(`/conversations/${conversation}/messages/${first}`, member);
    expect(body).toMatchObject({
      created_by: "u",
      model: "m",
      token_usage: { input: 1 },
      finish_reason: "stop",
      cost_credits: "0.25",
      idempotency_key: "k",
      metadata: { a: null },
      updated_at: "2026-01-02T03:04:05.000Z",
      edited_at: "2026-01-02T03:04:06.000Z",
    });
    expect(body.parent_id).toBeUndefined();
  });

  test("a message is not found under another conversation", async () => {
    const other = await addConversation(sql, member, project);
    const answer = await api.get(`/conversations/${other}/messages/${second}`, member);
    expect(answer.body.slug).toBe("message-not-found");
  });
});

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { addConversation, addMessages } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const conversation = await addConversation(sql, member, project);
const [first, second] = (await addMessages(sql, conversation, 2)) as [string, string];

describe("GET /conversations/{conversation_id}/messages/{message_id}", () => {
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

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { addConversation } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const id = await addConversation(sql, member, project);
const path = `/conversations/${id}`;

describe("GET /conversations/{id}", () => {
  test("absent fields of a conversation are omitted, except that metadata is null", async () => {
    const { body } = await api.get(path, await api.key(member, { project }));
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

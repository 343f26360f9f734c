import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import {
  hidesFromForeigners,
  needsPermission,
  refusesBadCredentials,
} from "../../support/api/guards.ts";

const api = await sharedApi();
const owner = await api.user();
const project = await api.project(owner);
const path = `/projects/${project.slug}`;
const update = (json: unknown, as = owner) => api.send("PATCH", path, { as, json });

describe("PATCH /projects/{project_reference}", () => {
  test("an owner changes name and description, and absent fields stay", async () => {
    const before = (await api.get(path, owner)).body;
    const named = await update({ name: "New name", description: "What it is." });
    expect(named.status).toBe(200);
    const { updated_at, ...rest } = named.body;
    expect(rest).toEqual({
      ...{ ...before, updated_at: undefined },
      ...{ name: "New name", description: "What it is." },
    });
    expect(updated_at > before.updated_at).toBe(true);
    const described = await update({ description: "" });
    expect(described.body).toMatchObject({ name: "New name", description: "" });
    expect((await api.get(path, owner)).body).toEqual(described.body);
  });

  test("what is unchanged changes nothing", async () => {
    const { body } = await update({ name: "Same" });
    for (const json of [{ name: "Same" }, {}, { slug: "other", unknown: 1 }]) {
      expect((await update(json)).body).toEqual(body);
    }
    const entries = await api.sql`
      SELECT user_id, details FROM audit_log
      WHERE project_id = ${project.id} AND action = 'project.changed' AND details->>'name' = 'Same'`;
    expect([...entries]).toEqual([{ user_id: owner.userId, details: { name: "Same" } }]);
  });

  test("invalid fields are named", async () => {
    for (const [json, field] of [
      [{ name: "" }, "name"],
      [{ name: 1 }, "name"],
      [{ description: "a\0" }, "description"],
    ] as const) {
      const answer = await update(json);
      expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
    }
  });

  test("an editor is answered 403", async () => {
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const answer = await update({ name: "Mine" }, editor);
    expect([answer.status, answer.body.slug]).toEqual([403, "permission-denied"]);
  });

  const guarded = { api, method: "PATCH", path, json: { name: "Guard" } } as const;
  refusesBadCredentials(guarded);
  needsPermission({ ...guarded, project });
  hidesFromForeigners({
    ...{ ...guarded, project, member: owner, slug: "project-not-found" },
    missingPath: "/projects/no-such-project",
  });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../support/api/imports.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user({ email: "isolation-owner@example.com" });
const { report } = importsOf(api, owner);
const project = await api.project(owner);
const stranger = await api.user({ email: "isolation-stranger@example.com" });
const foreign = await api.project(stranger);

/** Everything of the foreign project, to see that nothing of it has changed. */
async function foreignState(): Promise<string> {
  const rows = await sql`
    SELECT to_jsonb(p)::text AS project,
      (SELECT jsonb_agg(m ORDER BY user_id) FROM memberships m WHERE m.project_id = p.id)::text AS members,
      (SELECT jsonb_agg(c) FROM conversations c WHERE c.project_id = p.id)::text AS conversations,
      (SELECT jsonb_agg(x) FROM messages x JOIN conversations c ON c.id = x.conversation_id
        WHERE c.project_id = p.id)::text AS messages,
      (SELECT jsonb_agg(x) FROM status_checks x JOIN branches b ON b.id = x.branch_id
        WHERE b.project_id = p.id)::text AS checks,
      (SELECT jsonb_agg(x) FROM branch_approvals x JOIN branches b ON b.id = x.branch_id
        WHERE b.project_id = p.id)::text AS approvals,
      (SELECT jsonb_agg(x) FROM input_requests x JOIN conversations c ON c.id = x.conversation_id
        WHERE c.project_id = p.id)::text AS requests,
      (SELECT jsonb_agg(x) FROM environments x WHERE x.project_id = p.id)::text AS environments
    FROM projects p WHERE p.id = ${foreign.id}`;
  return JSON.stringify(rows);
}

describe("an import into a project", () => {
  test("takes records that name the project by slug, by id in either case, or not at all", async () => {
    for (const reference of [project.slug, project.id, project.id.toUpperCase(), undefined, null]) {
      const line = { ...PRODUCTION, project: reference };
      expect(await report(project, [line])).toMatchObject({ refused: 0 });
    }
  });

  test("refuses records of another project exactly as those of an unknown one", async () => {
    const before = await foreignState();
    for (const record of [
      PRODUCTION,
      file("a.md", { environments: [] }),
      { record: "release", name: "v9" },
      { record: "branch", name: "main" },
      { record: "webhook_definition", id: "foreign", secret: "s" },
    ]) {
      for (const reference of [foreign.slug, foreign.id, "unknown-project", randomUUID()]) {
        const { errors } = await report(project, [{ ...record, project: reference }]);
        const message = "project: must be the project of this import";
        expect(errors).toEqual([{ line: 1, message }]);
      }
    }
    const { errors } = await report(project, [
      { record: "conversation", project_id: foreign.id, created_by: "x" },
    ]);
    expect(errors[0].message).toBe("project_id: must be the project of this import");
    expect(await foreignState()).toBe(before);
  });

  test("refuses users and API keys", async () => {
    const { errors } = await report(project, [
      { record: "user", email: "new@example.com", name: "New" },
      { record: "api_key", user: "isolation-owner@example.com", name: "k", key: "tsr_x" },
    ]);
    expect(errors).toEqual([
      { line: 1, message: 'record: "user" cannot be imported into a project' },
      { line: 2, message: 'record: "api_key" cannot be imported into a project' },
    ]);
  });

  test("knows the project's members only, so that it cannot be asked who is a user", async () => {
    const by = (email: string) => ({ record: "conversation", title: email, created_by: email });
    const lines = [by("isolation-stranger@example.com"), by("isolation-nobody@example.com")];
    const { errors } = await report(project, lines);
    expect(errors).toEqual([
      { line: 1, message: 'created_by: there is no user "isolation-stranger@example.com"' },
      { line: 2, message: 'created_by: there is no user "isolation-nobody@example.com"' },
    ]);
  });

  test("changes the project itself for its owner, and creates no other", async () => {
    const own = { record: "project", slug: project.slug, name: "Renamed", owner: owner.userId };
    expect(await report(project, [own])).toMatchObject({ changed: 1 });
    const refused = [
      { ...own, slug: "brand-new" },
      { ...own, slug: foreign.slug },
      { ...own, id: foreign.id },
      { ...own, members: [{ user: "isolation-stranger@example.com", role: "owner" }] },
    ];
    expect(await report(project, refused)).toMatchObject({ refused: refused.length });
    const [created] = await sql`SELECT FROM projects WHERE slug = 'brand-new'`;
    expect(created).toBeUndefined();
  });
});

describe("the roles of an import", () => {
  test("an editor can neither change the project nor become its owner", async () => {
    const editor = await api.user({ email: "isolation-editor@example.com" });
    await api.join(editor, project, "editor");
    const record = {
      record: "project",
      slug: project.slug,
      name: "x",
      owner: "isolation-editor@example.com",
    };
    const { errors } = await report(project, [record], { as: editor });
    expect(errors).toEqual([
      { line: 1, message: "record: only an owner may import the project itself" },
    ]);
    const [row] = await sql`SELECT role FROM memberships WHERE user_id = ${editor.userId}`;
    expect(row?.["role"]).toBe("editor");
  });
});

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const member = await api.user();

describe("GET /projects/{project_reference}", () => {
  test("a created project is read back at its Location exactly as it was answered", async () => {
    const body = { name: "Read back", slug: "read-back", description: "Again." };
    const created = await api.post("/projects", body, member);
    expect(created.headers.get("location")).toBe("/projects/read-back");
    const read = await api.get("/projects/read-back", member);
    expect(read.body).toEqual(created.body);
  });

  test("the newest releases come first, and owners before other members", async () => {
    const busy = await api.project(member);
    const colleague = await api.user();
    await api.sql`UPDATE memberships SET created_at = now() + interval '1 hour'
      WHERE project_id = ${busy.id}`;
    await api.join(colleague, busy, "editor");
    await api.sql`INSERT INTO releases (id, project_id, name, created_at)
      SELECT gen_random_uuid(), ${busy.id}, 'v' || i, now() + make_interval(mins => i)
      FROM generate_series(1, 3) i`;
    const { body } = await api.get(`/projects/${busy.slug}`, member);
    expect(body.releases.map(({ name }: { name: string }) => name)).toEqual(["v3", "v2", "v1"]);
    expect(body.users.map(({ role }: { role: string }) => role)).toEqual(["owner", "editor"]);
  });

  test("a project with many environments names the first thousand, and their list has all", async () => {
    const wide = await api.project(member);
    await api.sql`INSERT INTO environments (id, project_id, name)
      SELECT gen_random_uuid(), ${wide.id}, 'e' || lpad(i::text, 4, '0') FROM generate_series(0, 1000) i`;
    const { body } = await api.get(`/projects/${wide.slug}`, member);
    const names = body.environments.map(({ name }: { name: string }) => name);
    expect([names.length, names[0], names.at(-1)]).toEqual([1_000, "e0000", "e0999"]);
    const { body: list } = await api.get(`/projects/${wide.slug}/environments?limit=100`, member);
    expect([list.data.length, list.page_info.next === null]).toEqual([100, false]);
  });
});

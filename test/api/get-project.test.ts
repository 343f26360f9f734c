import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const member = await api.user();
const project = await api.project(member);
const path = `/projects/${project.slug}`;

describe("GET /projects/{project_reference}", () => {
  test("a member reads a project by slug, and by id in either case", async () => {
    for (const reference of [project.slug, project.id, project.id.toUpperCase()]) {
      const { status, body } = await api.get(`/projects/${reference}`, member);
      expect(status).toBe(200);
      expect(body).toMatchObject({ ...project, environments: [], releases: [] });
    }
  });

  test("a created project is read back at its Location exactly as it was answered", async () => {
    const body = { name: "Read back", slug: "read-back", description: "Again." };
    const created = await api.post("/projects", body, member);
    expect(created.headers.get("location")).toBe("/projects/read-back");
    const read = await api.get("/projects/read-back", member);
    expect(read.body).toEqual(created.body);
  });

  test("an unchanged project is answered 304 to its tag, and a changed one in full", async () => {
    const tag = (await api.get(path, member)).headers.get("etag") as string;
    const headers = { "if-none-match": tag };
    expect((await api.get(path, member, headers)).status).toBe(304);
    await api.sql`UPDATE projects SET name = 'Renamed' WHERE id = ${project.id}`;
    const changed = await api.get(path, member, headers);
    expect(changed.status).toBe(200);
    expect(changed.body.name).toBe("Renamed");
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
});

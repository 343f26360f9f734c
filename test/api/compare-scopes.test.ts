import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { report } = importsOf(api, member);
const file = (path: string, content: string, ...environments: string[]) => ({
  record: "file",
  path,
  content,
  environments,
});
await report(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "staging" },
  file("same.md", "# Same", "production", "staging"),
  file("changed.md", "# Before", "production"),
  file("Removed.md", "---\ntitle: Gone\n---\n", "production"),
  { record: "release", name: "v1", environment: "production" },
  file("changed.md", "# After", "production", "staging"),
  file("a/added.md", "No heading", "production", "staging"),
  file("Removed.md", "", "staging"),
]);
await api.send("DELETE", `/projects/${project.slug}/files/Removed.md`, { as: member });
const path = `/projects/${project.slug}/compare`;
const compare = async (query: string): Promise<Json> => {
  const { status, body, text } = await api.get(`${path}?${query}`, member);
  expect(status, text).toBe(200);
  return body;
};
const pairs = (body: Json) => body.data.map((each: Json) => [each.change, each.path, each.title]);
const versionOf = async (name: string, of: string) =>
  (await api.get(`/projects/${project.slug}/files/${encodeURIComponent(name)}?${of}`, member)).body;

describe("GET /projects/{project_reference}/compare", () => {
  test("what was added, removed and changed since a release is counted and listed by path", async () => {
    const body = await compare("base_release=v1&environment=production");
    expect(body).toMatchObject({ added: 1, removed: 1, changed: 1 });
    expect(pairs(body)).toEqual([
      ["removed", "Removed.md", "Gone"],
      ["added", "a/added.md", "added"],
      ["changed", "changed.md", "After"],
    ]);
    const [removed, added, changed] = body.data;
    const now = await versionOf("changed.md", "environment=production");
    const before = await versionOf("changed.md", "release=v1");
    expect(changed).toEqual({
      change: "changed",
      path: "changed.md",
      title: "After",
      id: now.id,
      base_version_id: before.version_id,
      version_id: now.version_id,
    });
    expect([removed.version_id, added.base_version_id]).toEqual([null, null]);
    expect(await compare("base_release=v1")).toMatchObject({ data: body.data });
  });

  test("the other way round, what was added is removed", async () => {
    const body = await compare("base_environment=production&release=v1");
    expect(body).toMatchObject({ added: 1, removed: 1, changed: 1 });
    expect(pairs(body)).toEqual([
      ["added", "Removed.md", "Gone"],
      ["removed", "a/added.md", "added"],
      ["changed", "changed.md", "Before"],
    ]);
  });

  test("equal environments have no differences, and an active release is what counts", async () => {
    const none = { added: 0, removed: 0, changed: 0, data: [] };
    expect(await compare("base_release=v1&release=v1")).toMatchObject(none);
    const [active] = await api.sql<{ id: string }[]>`
      SELECT id FROM releases WHERE project_id = ${project.id}`;
    await api.sql`INSERT INTO environments (id, project_id, name, active_release_id)
      VALUES (gen_random_uuid(), ${project.id}, 'pinned', ${active?.id as string})`;
    expect(await compare("base_environment=pinned&release=v1")).toMatchObject(none);
    const between = await compare("base_environment=production&environment=staging");
    expect(pairs(between)).toEqual([["added", "Removed.md", "Removed"]]);
  });

  test("every page has the counts of all", async () => {
    const all = await compare("base_release=v1&environment=production");
    const first = await compare("base_release=v1&environment=production&limit=1");
    const second = (await api.get(first.page_info.next, member)).body;
    const third = (await api.get(second.page_info.next, member)).body;
    expect([first, second, third].flatMap(({ data }) => data)).toEqual(all.data);
    expect(third).toMatchObject({ added: 1, removed: 1, changed: 1, page_info: { next: null } });
  });
});

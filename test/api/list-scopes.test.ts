import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const member = await api.user();
const project = await api.project(member);
const { report } = importsOf(api, member);
const file = (path: string, ...environments: string[]) => ({
  ...{ record: "file", path, content: "# Text", environments },
});
await report(project, [
  { record: "environment", name: "staging" },
  { record: "environment", name: "production" },
  { record: "environment", name: "a" },
  file("1.md", "production", "staging"),
]);
const release = (name: string) =>
  api.post(`/projects/${project.slug}/releases`, { name, environment: "production" }, member);
await release("v1");
await report(project, [file("2.md", "production")]);
await release("v2");
await release("v3");
await api.sql`UPDATE releases SET created_at = '2026-01-01T00:00:00.123457Z'
  WHERE project_id = ${project.id} AND name <> 'v3'`;
await api.send("PATCH", `/projects/${project.slug}/environments/staging`, {
  ...{ as: member, json: { active_release: "v1" } },
});
const at = (list: string) => `/projects/${project.slug}/${list}`;

for (const [list, names] of [
  ["environments", ["a", "production", "staging"]],
  ["releases", ["v3", "v2", "v1"]],
] as const) {
  describe(`GET /projects/{project_reference}/${list}`, () => {
    test("pages of any size list everything once and in order, also at one instant, and lead back", async () => {
      for (const limit of [1, 2, 100]) {
        const found: string[] = [];
        for (let next: string | null = `${at(list)}?limit=${limit}`; next !== null; ) {
          const { status, body }: Json = await api.get(next, member);
          expect(status).toBe(200);
          found.push(...body.data.map(({ name }: Json) => name));
          next = body.page_info.next;
        }
        expect(found).toEqual([...names]);
      }
      const first = (await api.get(`${at(list)}?limit=2`, member)).body;
      const second = (await api.get(first.page_info.next, member)).body;
      expect((await api.get(second.page_info.prev, member)).body.data).toEqual(first.data);
    });

    test("an invalid page size is refused by name, and so is a cursor of another project", async () => {
      const answer = await api.get(`${at(list)}?limit=0`, member);
      expect([answer.status, answer.body.errors[0].field]).toEqual([400, "limit"]);
      const other = await api.project(member);
      const { next } = (await api.get(`${at(list)}?limit=1`, member)).body.page_info;
      const foreign = await api.get(next.replace(project.slug, other.slug), member);
      expect([foreign.status, foreign.body.slug]).toEqual([400, "invalid-cursor"]);
    });
  });
}

test("environments say what they serve, and releases how many files they have and who serves them", async () => {
  const environments = (await api.get(at("environments"), member)).body.data;
  expect(environments).toMatchObject([
    { name: "a", active_release: null, files: 0, protected: false },
    { name: "production", active_release: null, files: 2 },
    { name: "staging", active_release: "v1", files: 1 },
  ]);
  const releases = (await api.get(at("releases"), member)).body.data;
  expect(releases).toMatchObject([
    { name: "v3", files: 2, environments: [], frozen_at: expect.any(String) },
    { name: "v2", files: 2, created_at: "2026-01-01T00:00:00.123Z" },
    { name: "v1", files: 1, environments: ["staging"] },
  ]);
});

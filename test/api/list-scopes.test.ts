import { expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";

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

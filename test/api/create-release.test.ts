import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const owner = await api.user();
const editor = await api.user();
const project = await api.project(owner);
await api.join(editor, project, "editor");
const { post } = importsOf(api, owner);
const environments = ["production"];
await post(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "empty" },
  { record: "file", path: "a.md", environments, content: "# A\n" },
  { record: "file", path: "b.md", environments, content: "# B\n" },
]);
const path = `/projects/${project.slug}/releases`;
const create = (name: string, environment = "production") =>
  api.post(path, { name, environment }, editor);
const pathsIn = async (release: string) => {
  const { body } = await api.get(`/projects/${project.slug}/files?release=${release}`, editor);
  return body.data.map((each: Json) => each.path);
};

describe("POST /projects/{project_reference}/releases", () => {
  test("an editor freezes a working set, which later changes do not reach", async () => {
    const { status, body } = await create("v1");
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: "v1",
      export_status: "pending",
      build_status: "pending",
      deploy_status: "pending",
    });
    await api.send("DELETE", `/projects/${project.slug}/files/a.md`, { as: editor });
    expect(await pathsIn("v1")).toEqual(["a.md", "b.md"]);
    expect((await create("v2")).status).toBe(201);
    expect(await pathsIn("v2")).toEqual(["b.md"]);
    expect((await create("v0", "empty")).status).toBe(201);
    expect(await pathsIn("v0")).toEqual([]);
    const listed = (await api.get(`/projects/${project.slug}`, editor)).body.releases;
    expect(listed).toContainEqual(body);
  });

  test("nothing can be added to it any more", async () => {
    await create("frozen", "empty");
    const { body } = await post(project, [
      { record: "file", path: "late.md", releases: ["frozen"], content: "x" },
    ]);
    expect(body.errors[0].message).toContain("is frozen");
  });

  test("a name that is taken is answered 409, also when two ask at once", async () => {
    const answers = await Promise.all([create("twice"), create("twice")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const again = await create("twice");
    expect([again.status, again.body.slug]).toEqual([409, "release-name-taken"]);
  });

  test("an unknown environment is not found", async () => {
    const unknown = await create("v3", "none");
    expect([unknown.status, unknown.body.slug]).toEqual([404, "environment-not-found"]);
  });
});

const served = await api.project(owner);
await api.join(editor, served, "editor");
await post(served, [
  { record: "environment", name: "production" },
  { record: "file", path: "a.md", environments: ["production"], content: "# Now\n" },
  { record: "file", path: "a.md", releases: ["v1"], content: "# Then\n" },
]);
const production = `/projects/${served.slug}/environments/production`;
const activate = (active_release: unknown) =>
  api.send("PATCH", production, { as: editor, json: { active_release } });
const content = async () =>
  (await api.get(`/projects/${served.slug}/files/a.md`, editor)).body.content;
const [release] = await api.sql<{ id: string }[]>`
  SELECT id FROM releases WHERE project_id = ${served.id}`;

describe("PATCH /projects/{project_reference}/environments/{environmentName}", () => {
  test("an environment serves the release that an editor activates, and its working set again", async () => {
    const answer = await activate("v1");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: "production",
      protected: false,
      domains: [],
      environment_variables: [],
      active_release_id: release!.id,
    });
    expect(await content()).toBe("# Then\n");
    const ended = await activate(null);
    expect(ended.body.active_release_id).toBeUndefined();
    expect(await content()).toBe("# Now\n");
  });

  test("activating what is active changes nothing", async () => {
    await activate("v1");
    const entries = () =>
      api.sql`SELECT user_id, details FROM audit_log
        WHERE project_id = ${served.id} AND action = 'environment.activated' ORDER BY id DESC`;
    const before = await entries();
    expect(before[0]).toEqual({
      user_id: editor.userId,
      details: { environment: "production", release: "v1", earlier_release: null },
    });
    expect((await activate("v1")).status).toBe(200);
    expect(await entries()).toHaveLength(before.length);
  });

  test("an unknown release and an unknown environment are not found", async () => {
    const answer = await activate("none");
    expect([answer.status, answer.body.slug]).toEqual([404, "release-not-found"]);
    const sent = { as: editor, json: { active_release: "v1" } };
    const other = await api.send("PATCH", `${production}-none`, sent);
    expect([other.status, other.body.slug]).toEqual([404, "environment-not-found"]);
  });
});

test("environments say what they serve, and releases how many files they have and who serves them", async () => {
  const listed = await api.project(owner);
  const at = (list: string) => `/projects/${listed.slug}/${list}`;
  const file = (path: string, ...environments: string[]) => ({
    record: "file",
    path,
    content: "# Text",
    environments,
  });
  const release = (name: string) =>
    api.post(at("releases"), { name, environment: "production" }, owner);
  await post(listed, [
    ...["staging", "production", "a"].map((name) => ({ record: "environment", name })),
    file("1.md", "production", "staging"),
  ]);
  await release("v1");
  await post(listed, [file("2.md", "production")]);
  await release("v2");
  await release("v3");
  await api.sql`UPDATE releases SET created_at = '2026-01-01T00:00:00.123457Z'
    WHERE project_id = ${listed.id} AND name <> 'v3'`;
  const json = { active_release: "v1" };
  await api.send("PATCH", at("environments/staging"), { as: owner, json });
  expect((await api.get(at("environments"), owner)).body.data).toMatchObject([
    { name: "a", active_release: null, files: 0, protected: false },
    { name: "production", active_release: null, files: 2 },
    { name: "staging", active_release: "v1", files: 1 },
  ]);
  expect((await api.get(at("releases"), owner)).body.data).toMatchObject([
    { name: "v3", files: 2, environments: [], frozen_at: expect.any(String) },
    { name: "v2", files: 2, created_at: "2026-01-01T00:00:00.123Z" },
    { name: "v1", files: 1, environments: ["staging"] },
  ]);
});

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
      ...{ id: expect.any(String), name: "v1" },
      ...{ export_status: "pending", build_status: "pending", deploy_status: "pending" },
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

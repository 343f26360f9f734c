import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";

const api = await sharedApi();
const owner = await api.user();
const editor = await api.user();
const project = await api.project(owner);
await api.join(editor, project, "editor");
await importsOf(api, owner).post(project, [
  { record: "environment", name: "production" },
  { record: "file", path: "a.md", environments: ["production"], content: "# Now\n" },
  { record: "file", path: "a.md", releases: ["v1"], content: "# Then\n" },
]);
const path = `/projects/${project.slug}/environments/production`;
const activate = (active_release: unknown) =>
  api.send("PATCH", path, { as: editor, json: { active_release } });
const content = async () =>
  (await api.get(`/projects/${project.slug}/files/a.md`, editor)).body.content;
const [release] = await api.sql<{ id: string }[]>`
  SELECT id FROM releases WHERE project_id = ${project.id}`;

describe("PATCH /projects/{project_reference}/environments/{environmentName}", () => {
  test("an environment serves the release that an editor activates, and its working set again", async () => {
    const answer = await activate("v1");
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      ...{ id: expect.any(String), name: "production", protected: false, domains: [] },
      ...{ environment_variables: [], active_release_id: release!.id },
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
        WHERE project_id = ${project.id} AND action = 'environment.activated' ORDER BY id DESC`;
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
    const other = await api.send("PATCH", `${path}-none`, sent);
    expect([other.status, other.body.slug]).toEqual([404, "environment-not-found"]);
  });
});

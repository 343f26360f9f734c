import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";

const api = await sharedApi();
const { owner: editor, project } = await api.ownedProject();
const { post } = importsOf(api, editor);
const NAMES = ["a.md", "b.md", "c.md", "race.md"];
await post(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "staging" },
  ...NAMES.map((path) => ({
    record: "file",
    path,
    environments: ["production", "staging"],
    releases: ["v1"],
    content: `# ${path}\n`,
  })),
]);
const pathOf = (file: string) => `/projects/${project.slug}/files/${encodeURIComponent(file)}`;
const remove = (file: string, headers: Record<string, string> = {}) =>
  api.send("DELETE", pathOf(file), { as: editor, headers });

describe("DELETE /projects/{project_reference}/files/{file_reference}", () => {
  test("an editor takes a file out of an environment, and other scopes keep it", async () => {
    expect((await remove("a.md")).status).toBe(204);
    expect((await api.get(pathOf("a.md"), editor)).status).toBe(404);
    for (const query of ["?environment=staging", "?release=v1"]) {
      expect((await api.get(pathOf("a.md") + query, editor)).status, query).toBe(200);
    }
  });

  test("a file that is not in the environment is not found, also the second time", async () => {
    expect((await remove("b.md")).status).toBe(204);
    for (const file of ["b.md", "none.md"]) {
      const answer = await remove(file, { "if-match": "*" });
      expect([answer.status, answer.body.slug]).toEqual([404, "file-not-found"]);
    }
  });

  test("If-Match lets only the version pass that it names", async () => {
    const tag = (await api.get(pathOf("c.md"), editor)).headers.get("etag") as string;
    const refused = await remove("c.md", { "if-match": '"other"' });
    expect([refused.status, refused.body.slug]).toEqual([412, "precondition-failed"]);
    expect((await remove("c.md", { "if-match": tag })).status).toBe(204);
  });

  test("a removal and a change of the same version exclude each other", async () => {
    const tag = (await api.get(pathOf("race.md"), editor)).headers.get("etag") as string;
    const headers = { "if-match": tag, "content-type": "text/markdown" };
    const [removed, changed] = await Promise.all([
      remove("race.md", { "if-match": tag }),
      api.send("PUT", pathOf("race.md"), { as: editor, headers, body: "# new" }),
    ]);
    expect([
      [204, 412],
      [412, 200],
    ]).toContainEqual([removed.status, changed.status]);
  });
});

import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";

const api = await sharedApi();
const member = await api.user();
const { post } = importsOf(api, member);
const file = (path: string, more: object = {}) => ({
  record: "file",
  path,
  environments: ["production"],
  content: path,
  ...more,
});
const removed = (path: string, more: object = {}) => ({
  record: "file",
  path,
  environments: ["production"],
  deleted: true,
  ...more,
});

async function filled(...paths: string[]) {
  const project = await api.project(member);
  const environments = ["production", "staging"];
  const files = paths.map((path) => file(path, { environments, releases: ["v1"] }));
  const lines = environments.map((name) => ({ record: "environment", name }));
  await post(project, [...lines, ...files]);
  const paths_ = async (query = "") => {
    const { body } = await api.get(`/projects/${project.slug}/files${query}`, member);
    return body.data.map(({ path }: Json) => path);
  };
  return { project, paths: paths_ };
}

describe("a file record with deleted", () => {
  test("takes the file out of the environments that it names, and of no other scope", async () => {
    const { project, paths } = await filled("a.md", "b.md");
    const { body } = await post(project, [removed("a.md")]);
    expect(body).toMatchObject({ lines: 1, changed: 1, unchanged: 0, refused: 0 });
    expect(body.warnings).toBeUndefined();
    expect(await paths()).toEqual(["b.md"]);
    expect(await paths("?environment=staging")).toEqual(["a.md", "b.md"]);
    expect(await paths("?release=v1")).toEqual(["a.md", "b.md"]);
    const [entry] = await api.sql`
      SELECT details FROM audit_log WHERE project_id = ${project.id} AND action = 'files.removed'`;
    expect(entry?.["details"]).toEqual({ environment: "production", files: 1, paths: ["a.md"] });
  });

  test("changes nothing for an unknown path, and nothing the second time", async () => {
    const { project } = await filled("a.md");
    await post(project, [removed("a.md")]);
    const { body } = await post(project, [removed("a.md"), removed("none.md")]);
    expect(body).toMatchObject({ changed: 0, unchanged: 2, refused: 0 });
  });

  test("is one of several records of a path, of which the last wins", async () => {
    const { project, paths } = await filled("a.md", "b.md");
    await post(project, [removed("a.md"), file("a.md"), file("b.md"), removed("b.md")]);
    expect(await paths()).toEqual(["a.md"]);
    await post(project, [file("new.md"), removed("new.md"), file("last.md", { deleted: false })]);
    expect(await paths()).toEqual(["a.md", "last.md"]);
  });

  test("is seen by a release of the working set that comes after it", async () => {
    const { project, paths } = await filled("a.md", "b.md");
    await post(project, [
      removed("a.md"),
      { record: "release", name: "v2", environment: "production" },
      file("a.md"),
    ]);
    expect(await paths("?release=v2")).toEqual(["b.md"]);
    expect(await paths()).toEqual(["a.md", "b.md"]);
  });

  test("is refused without environments, and with what a removal cannot have", async () => {
    const { project, paths } = await filled("a.md");
    const { body } = await post(project, [
      removed("a.md", { environments: [] }),
      removed("a.md", { releases: ["v1"] }),
      removed("a.md", { content: "x" }),
      removed("a.md", { environments: ["none"] }),
    ]);
    expect(body.errors.map(({ message }: Json) => message.split(":")[0])).toEqual([
      "environments",
      "releases",
      "deleted",
      "environments[0]",
    ]);
    expect(await paths()).toEqual(["a.md"]);
  });
});

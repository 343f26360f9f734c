import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { report } = importsOf(api, member);
const file = (path: string, frontmatter: string, metadata: object[], place: object) => ({
  record: "file",
  path,
  content: `---\n${frontmatter}\n---\n# Text\n`,
  ...place,
  chunks: metadata.map((each, index) => ({ index, content: "Text", metadata: each })),
});
const both = { environments: ["production"], releases: ["v1"] };
await report(project, [
  PRODUCTION,
  file("a.md", "status: draft\ntags: [x, y, x]\nby: {name: Ada}", [{ part: 1 }, { part: 1 }], both),
  file("b.md", "status: final\ntags: [x]\nlevel: 2", [{ part: 2, ok: true }], both),
  file("c.md", "status: final\nlevel: two", [], { environments: ["production"] }),
]);
const path = `/projects/${project.slug}/fields`;
const fields = async (query = ""): Promise<Json[]> => {
  const { status, body, text } = await api.get(`${path}${query}`, member);
  expect(status, text).toBe(200);
  return body.fields;
};
// A change is visible within a second.
await until("the fields of three files are listed", async () => (await fields())[0]?.files === 3);
const PATHS = ["a.md", "b.md", "c.md"].map((value) => ({ value, count: 1 }));
const field = (name: string, files: number, ...values: [value: unknown, count: number][]) => ({
  name,
  files,
  distinct: values.length,
  types: [...new Set(values.map(([value]) => typeof value))].sort().reverse(),
  values: values.map(([value, count]) => ({ value, count })),
});

describe("GET /projects/{project_reference}/fields", () => {
  test("members see path, frontmatter and metadata with types, files and the most frequent values", async () => {
    expect(await fields()).toEqual([
      { name: "path", types: ["string"], files: 3, distinct: 3, values: PATHS },
      field("frontmatter.status", 3, ["final", 2], ["draft", 1]),
      field("frontmatter.level", 2, [2, 1], ["two", 1]),
      field("frontmatter.tags", 2, ["x", 2], ["y", 1]),
      field("metadata.part", 2, [1, 1], [2, 1]),
      field("frontmatter.by.name", 1, ["Ada", 1]),
      field("metadata.ok", 1, [true, 1]),
    ]);
  });

  test("a release has the fields of its own files, and every listed value finds its files", async () => {
    const released = await fields("?release=v1");
    expect(released.map(({ name, files }) => [name, files])).toContainEqual([
      "frontmatter.level",
      1,
    ]);
    for (const { name, values } of released) {
      for (const { value, count } of values) {
        const filter = encodeURIComponent(JSON.stringify({ [name]: value }));
        const found = await api.get(
          `/projects/${project.slug}/files?release=v1&filter=${filter}`,
          member,
        );
        expect(found.body.data, `${name} ${value}`).toHaveLength(count);
      }
    }
  });

  test("a project without files has no fields but the path, and long values of a new one are not listed", async () => {
    const own = await api.project(member);
    const at = `/projects/${own.slug}/fields`;
    await report(own, [PRODUCTION]);
    const none = { name: "path", types: [], files: 0, distinct: 0, values: [] };
    expect((await api.get(at, member)).body).toEqual({ fields: [none] });
    const added = file("a.md", `long: ${"x".repeat(257)}`, [], { environments: ["production"] });
    await report(own, [added]);
    let listed: Json[] = [];
    await until("the fields of the file are listed", async () => {
      listed = (await api.get(at, member)).body.fields;
      return listed.length > 1;
    });
    expect(listed[1]).toMatchObject({
      name: "frontmatter.long",
      files: 1,
      distinct: 1,
      values: [],
    });
  });
});

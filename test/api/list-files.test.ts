import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { post } = importsOf(api, member);
const file = (
  path: string,
  content: string,
  places: object = { environments: ["production"] },
) => ({
  record: "file",
  path,
  content,
  ...places,
});
await post(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "staging" },
  file("docs/b.md", "---\ntitle: Beta\n---\n# Other\n"),
  file("docs/a.md", "Intro\n\n# Alpha \n\nText ä\n"),
  file("docs/Z.txt", "# not a heading"),
  file("docsé.md", "no heading"),
  file("docs😀/x.md", ""),
  file("only-release.md", "# Old", { releases: ["v1"] }),
]);
const path = `/projects/${project.slug}/files`;
const ALL = ["docs/Z.txt", "docs/a.md", "docs/b.md", "docsé.md", "docs😀/x.md"];

const pathsOf = (body: Json): string[] => body.data.map((each: Json) => each.path);

describe("GET /projects/{project_reference}/files", () => {
  test("a member lists the files of the default environment in byte order of path", async () => {
    for (const reference of [project.slug, project.id.toUpperCase()]) {
      const { status, body } = await api.get(`/projects/${reference}/files`, member);
      expect(status).toBe(200);
      expect(pathsOf(body)).toEqual(ALL);
    }
  });

  test("a file has the title of its frontmatter, heading or name, and its size in bytes of UTF-8", async () => {
    const { body } = await api.get(path, member);
    const byPath = new Map<string, Json>(body.data.map((each: Json) => [each.path, each]));
    expect(byPath.get("docs/b.md")).toEqual({
      id: expect.any(String),
      path: "docs/b.md",
      title: "Beta",
      version_id: expect.any(String),
      size: 28,
      chunk_count: 0,
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    });
    expect(byPath.get("docs/a.md")).toMatchObject({ title: "Alpha", size: 25 });
    expect(byPath.get("docs/Z.txt").title).toBe("Z.txt");
    expect(byPath.get("docsé.md")).toMatchObject({ title: "docsé", size: 10 });
    expect(byPath.get("docs😀/x.md").size).toBe(0);
    const filter = encodeURIComponent(JSON.stringify({ path: { $prefix: "docs" } }));
    const filtered = await api.get(`${path}?filter=${filter}`, member);
    expect(filtered.body.data).toEqual(body.data);
  });

  test("titles are those that a lookup has", async () => {
    const { body } = await api.get(path, member);
    const titles = Object.fromEntries(body.data.map((each: Json) => [each.path, each.title]));
    let found: Json[] = [];
    await until("all files are found", async () => {
      const lookup = `/projects/${project.slug}/knowledge/lookup`;
      found = (await api.post(lookup, {}, member)).body.data;
      return found.length === 4;
    });
    for (const item of found) expect(titles[item.path], item.path).toBe(item.title);
  });

  test("an environment or a release lists its own files", async () => {
    expect(pathsOf((await api.get(`${path}?environment=staging`, member)).body)).toEqual([]);
    expect(pathsOf((await api.get(`${path}?release=v1`, member)).body)).toEqual([
      "only-release.md",
    ]);
  });

  test("a prefix selects paths, whatever characters it ends with", async () => {
    for (const [prefix, expected] of [
      ["docs/", ALL.slice(0, 3)],
      ["docs/a.md", ["docs/a.md"]],
      ["docs😀", ["docs😀/x.md"]],
      ["docs%", []],
      ["docs\ud7ff", []],
      ["\u{10ffff}", []],
    ] as const) {
      const at = `${path}?path_prefix=${encodeURIComponent(prefix)}`;
      expect(pathsOf((await api.get(at, member)).body), prefix).toEqual([...expected]);
    }
  });

  test("invalid parameters are refused by name", async () => {
    for (const [query, field] of [
      ["path_prefix=%00", "path_prefix"],
      ["filter=%7B", "filter"],
    ] as const) {
      const answer = await api.get(`${path}?${query}`, member);
      expect(answer.status, query).toBe(400);
      expect(answer.body.errors[0].field).toBe(field);
    }
  });
});

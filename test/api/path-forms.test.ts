import { describe, expect, test } from "bun:test";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../support/api/imports.ts";

const api = await sharedApi();
const owner = await api.user();
const imports = importsOf(api, owner);

const put = (project: TestProject, path: string) =>
  api.putText(owner, project, path, "# A caf\u00e9");

describe("a path with a letter that has two forms", () => {
  const FORMS = ["caf\u00e9/a.md", "cafe\u0301/a.md"] as const;

  test("is the same in paths, prefixes, filters and sources", async () => {
    const project = await api.project(owner);
    await imports.report(project, [PRODUCTION]);
    await put(project, FORMS[0]);
    await put(project, "other.md");
    const base = `/projects/${project.slug}`;
    for (const path of FORMS) {
      const { body } = await api.get(`${base}/files/${encodeURIComponent(path)}`, owner);
      expect(body.path).toBe(FORMS[0]);
      const folder = path.slice(0, path.indexOf("/"));
      const filters = [
        ...[path, { $prefix: folder }, { $glob: `${folder}/*` }, { $in: [path] }, { $eq: path }],
        { $not: { $ne: path } },
      ];
      const queries = [
        `path_prefix=${encodeURIComponent(folder)}`,
        ...filters.map((of) => `filter=${encodeURIComponent(JSON.stringify({ path: of }))}`),
        `filter=${encodeURIComponent(JSON.stringify({ $or: [{ path }] }))}`,
      ];
      for (const query of queries) {
        const list = await api.get(`${base}/files?${query}`, owner);
        expect(
          list.body.data.map((item: { path: string }) => item.path),
          query,
        ).toEqual([FORMS[0]]);
      }
    }
  });
});

describe("names that a URL loses or nobody sees", () => {
  const NAMES = [".", "..", " ", "\u200b", "\u00a0\u3000", "\t", "\u2060\ufeff", "\u3164"];
  const FAULT = "must have a visible character, and must not be . or ..";

  test("are refused for files, releases and environments, by HTTP and by an import", async () => {
    const project = await api.project(owner);
    await imports.report(project, [PRODUCTION]);
    for (const name of NAMES) {
      // Clients take dots out of a path, so these arrive encoded twice or not at all.
      if (!/^\.+$/.test(name)) {
        const answer = await put(project, name);
        expect([answer.status, answer.body.errors?.[0].message], name).toEqual([400, FAULT]);
      }
      const release = await api.send("POST", `/projects/${project.slug}/releases`, {
        as: owner,
        json: { name, environment: "production" },
      });
      expect(release.status, name).toBe(400);
      expect(release.body.errors[0].message, name).toStartWith(FAULT);
      const report = await imports.report(project, [
        file(name),
        { record: "environment", name },
        { record: "release", name },
      ]);
      expect(report.refused, name).toBe(3);
    }
    for (const name of ["...", ".a", "\u200ba", "\ud83d\ude00", "\u0e01"]) {
      expect((await put(project, name)).status, name).toBeOneOf([200, 201]);
    }
  });
});

test("a path of a file whose slashes are not encoded is told how to write them", async () => {
  const { status, body } = await api.get("/projects/p/files/a/b.md", owner);
  expect([status, body.slug]).toEqual([404, "route-not-found"]);
  expect(body.detail).toContain("/projects/p/files/a%2Fb.md");
});

test("a field that is misspelt is named beside the one that is missing", async () => {
  const answer = await api.send("POST", "/api-keys", { as: owner, json: { nmae: "a", x: 1 } });
  expect(answer.body.errors).toEqual([
    { field: "name", message: 'is required; the unknown fields are "nmae", "x"' },
  ]);
});

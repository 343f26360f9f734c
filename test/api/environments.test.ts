import { describe, expect, test } from "bun:test";
import type { Transaction } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { sharedApi, startApi, type TestApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { randomVector } from "../../support/api/versions.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { countedIn, uncountedIn } from "../../support/quotas.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const other = await startApi({ beside: api });
const owner = await api.user();
const editor = await api.user();
const project = await api.project(owner);
await api.join(editor, project, "editor");
const { post, report } = importsOf(api, owner);
const embedding = base64Of(randomVector(DIMENSION, 1));
const vector = { vector: embedding, dimension: DIMENSION, threshold: 0 };

const file = (path: string, ...environments: string[]) => ({
  record: "file",
  path,
  environments,
  content: `# ${path}\n`,
  chunks: [{ content: path, embedding }],
});
await report(project, [
  { record: "environment", name: "production" },
  ...[file("a.md", "production"), file("b.md", "production")],
  { record: "release", name: "v1", environment: "production" },
]);
await report(project, [file("c.md", "production"), { record: "environment", name: "pinned" }]);
await report(project, [{ record: "environment", name: "pinned", active_release: "v1" }]);

const at = (path: string) => `/projects/${project.slug}${path}`;
const create = (json: object) => api.post(at("/environments"), json, editor);
const remove = (name: string) =>
  api.send("DELETE", at(`/environments/${encodeURIComponent(name)}`), { as: owner });
const pathsIn = async (name: string) => {
  const { body } = await api.get(at(`/files?environment=${name}`), editor);
  return body.data?.map((each: Json) => each.path);
};
const search = (node: TestApi, name: string) =>
  node.post(at(`/environments/${name}/search`), vector, editor);

describe("POST /projects/{project_reference}/environments", () => {
  test("an editor creates an environment, which is empty and takes files", async () => {
    const { status, body } = await create({ name: "empty", protected: true, domains: ["a.org"] });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "empty",
        protected: true,
        domains: ["a.org"],
        environment_variables: [],
      },
    ]);
    expect(await pathsIn("empty")).toEqual([]);
    const sending = { as: editor, body: "# D\n", headers: { "content-type": "text/markdown" } };
    const put = await api.send("PUT", at("/files/d.md?environment=empty"), sending);
    expect(put.status).toBe(201);
    expect(await pathsIn("empty")).toEqual(["d.md"]);
    expect((await api.get(at(""), editor)).body.environments).toContainEqual(body);
  });

  test.each([
    ["a working set", { environment: "production" }, ["a.md", "b.md", "c.md"]],
    ["the release that another one serves", { environment: "pinned" }, ["a.md", "b.md"]],
    ["a release", { release: "v1" }, ["a.md", "b.md"]],
    ["an environment that a text names", "production", ["a.md", "b.md", "c.md"]],
    ["a release that a text names", "v1", ["a.md", "b.md"]],
  ])("it begins with the contents of %s, which searches find", async (_, contents_of, paths) => {
    const name = `from-${Bun.hash(JSON.stringify(contents_of))}`;
    const { status, body } = await create({ name, contents_of });
    expect([status, body.active_release_id]).toEqual([201, undefined]);
    expect(await pathsIn(name)).toEqual(paths);
    for (const node of [api, other]) {
      await until("the environment is searched", async () => {
        const answer = await search(node, name);
        return answer.body.data?.length === paths.length;
      });
    }
    await api.send("DELETE", at(`/files/a.md?environment=${name}`), { as: editor });
    expect(await pathsIn(name)).toEqual(paths.slice(1));
    expect(await pathsIn("production")).toEqual(["a.md", "b.md", "c.md"]);
  });

  test("a name that is taken is answered 409, also when two ask at once", async () => {
    const json = { name: "twice", contents_of: "production" };
    const answers = await Promise.all([create(json), create(json)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const again = await create({ name: "twice" });
    expect([again.status, again.body.slug]).toEqual([409, "environment-name-taken"]);
    expect(await pathsIn("twice")).toEqual(["a.md", "b.md", "c.md"]);
  });

  test("unknown contents are not found, and leave no environment", async () => {
    for (const [contents_of, slug] of [
      [{ environment: "none" }, "environment-not-found"],
      [{ release: "none" }, "release-not-found"],
      [{ release: crypto.randomUUID() }, "release-not-found"],
      ["none", "release-not-found"],
    ]) {
      const { status, body } = await create({ name: "unknown", contents_of });
      expect([status, body.slug]).toEqual([404, slug]);
    }
    expect((await remove("unknown")).status).toBe(404);
  });

  test("a name that no path can have, and contents of another shape, are refused by field", async () => {
    for (const name of ["", ".", "..", " ", "\u200b", "x".repeat(256), "a\0b", 1]) {
      const { status, body } = await create({ name });
      expect([status, body.errors[0].field]).toEqual([400, "name"]);
    }
    for (const contents_of of [{}, { environment: "a", release: "b" }, 1, { other: "a" }]) {
      const { status, body } = await create({ name: "shape", contents_of });
      expect([status, body.errors[0].field]).toEqual([400, "contents_of"]);
    }
  });

  test("a working set of more than a quota allows is refused as a whole", async () => {
    const { bytes } = await countedIn(sql, project.id);
    await sql`UPDATE projects SET max_bytes = ${bytes + 700} WHERE id = ${project.id}`;
    const { status, body } = await create({ name: "large", contents_of: "production" });
    expect([status, body.slug]).toEqual([409, "quota-exceeded"]);
    await sql`UPDATE projects SET max_bytes = NULL WHERE id = ${project.id}`;
    expect((await remove("large")).status).toBe(404);
  });

  test("a release that is deleted meanwhile is not found", async () => {
    await report(project, [{ record: "release", name: "passing", environment: "production" }]);
    const answer = await beforeCommit(
      sql,
      (tx) => tx`DELETE FROM releases WHERE project_id = ${project.id} AND name = 'passing'`,
      () => create({ name: "late", contents_of: { release: "passing" } }),
    );
    expect([answer.status, answer.body.slug]).toEqual([404, "release-not-found"]);
  });

  test("a file that is purged meanwhile is left out", async () => {
    await report(project, [file("purged.md", "production")]);
    const purge = async (tx: Transaction) => {
      const [gone] = await tx<{ id: string }[]>`
        SELECT id FROM files WHERE project_id = ${project.id} AND path = 'purged.md'`;
      await tx`DELETE FROM environment_files WHERE file_id = ${gone!.id}`;
      await tx`DELETE FROM file_versions WHERE file_id = ${gone!.id}`;
    };
    const answer = await beforeCommit(sql, purge, () =>
      create({ name: "purging", contents_of: "production" }),
    );
    expect(answer.status).toBe(201);
    expect(await pathsIn("purging")).toEqual(["a.md", "b.md", "c.md"]);
  });
});

describe("DELETE /projects/{project_reference}/environments/{environmentName}", () => {
  test("an owner deletes an environment, and no server finds it any longer", async () => {
    await create({ name: "leaving", contents_of: "production" });
    for (const node of [api, other]) {
      await until("it is searched", async () => {
        return (await search(node, "leaving")).body.data?.length === 3;
      });
    }
    const answer = await remove("leaving");
    expect([answer.status, answer.text]).toEqual([204, ""]);
    const own = await search(api, "leaving");
    expect([own.status, own.body.slug]).toEqual([404, "environment-not-found"]);
    await until("the other server forgets it", async () => {
      return (await search(other, "leaving")).status === 404;
    });
    const [log] = await sql<{ kind: string; ref: string }[]>`
      SELECT kind, ref FROM change_log WHERE project_id = ${project.id} ORDER BY seq DESC LIMIT 1`;
    expect(log).toEqual({ kind: "environment", ref: expect.any(String) });
    expect((await remove("leaving")).body.slug).toBe("environment-not-found");
  });

  test("its files stay in other environments and in releases, and can be written again", async () => {
    await create({ name: "passing", contents_of: "production" });
    await api.post(at("/releases"), { name: "of-passing", environment: "passing" }, editor);
    await remove("passing");
    expect(await pathsIn("production")).toEqual(["a.md", "b.md", "c.md"]);
    const { body } = await api.get(at("/files?release=of-passing"), editor);
    expect(body.data).toHaveLength(3);
    expect((await create({ name: "passing" })).status).toBe(201);
    expect(await pathsIn("passing")).toEqual([]);
  });

  test("one that serves a release leaves the release, which can be deleted then", async () => {
    await api.post(at("/releases"), { name: "served", environment: "production" }, editor);
    await create({ name: "serving" });
    const json = { active_release: "served" };
    await api.send("PATCH", at("/environments/serving"), { as: editor, json });
    expect((await remove("serving")).status).toBe(204);
    expect((await api.get(at("/files?release=served"), editor)).body.data).toHaveLength(3);
    expect((await api.send("DELETE", at("/releases/served"), { as: owner })).status).toBe(204);
  });

  test("a file that is written meanwhile is answered 404, and an import goes on without it", async () => {
    await create({ name: "gone", contents_of: "production" });
    const sending = { as: editor, body: "# D\n", headers: { "content-type": "text/markdown" } };
    const deleting = (tx: Transaction) => tx`
      DELETE FROM environments WHERE project_id = ${project.id} AND name = 'gone'`;
    const put = await beforeCommit(sql, deleting, () =>
      api.send("PUT", at("/files/d.md?environment=gone"), sending),
    );
    expect([put.status, put.body.slug]).toEqual([404, "environment-not-found"]);
    await create({ name: "gone" });
    const imported = await beforeCommit(sql, deleting, () =>
      post(project, [file("e.md", "gone", "production")]),
    );
    expect(imported.status, imported.text).toBe(200);
    expect(await pathsIn("production")).toContain("e.md");
    await api.send("DELETE", at("/files/e.md?environment=production"), { as: editor });
  });

  test("a release that is made of it meanwhile is answered 404", async () => {
    await create({ name: "frozen", contents_of: "production" });
    const answer = await beforeCommit(
      sql,
      (tx) => tx`DELETE FROM environments WHERE project_id = ${project.id} AND name = 'frozen'`,
      () => api.post(at("/releases"), { name: "of-frozen", environment: "frozen" }, editor),
    );
    expect([answer.status, answer.body.slug]).toEqual([404, "environment-not-found"]);
  });

  test("the quota gets back exactly what it took", async () => {
    const counted = await api.project(owner);
    await report(counted, [
      { record: "environment", name: "production" },
      file("a.md", "production"),
    ]);
    const path = `/projects/${counted.slug}/environments`;
    await api.post(path, { name: "copy", contents_of: "production" }, owner);
    const before = await uncountedIn(sql, counted.id);
    const { bytes } = await countedIn(sql, counted.id);
    await api.send("DELETE", `${path}/copy`, { as: owner });
    expect(await uncountedIn(sql, counted.id)).toBe(before);
    expect((await countedIn(sql, counted.id)).bytes).toBeLessThan(bytes);
  });
});

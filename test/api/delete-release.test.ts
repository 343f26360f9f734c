import { describe, expect, test } from "bun:test";
import type { Transaction } from "../../src/db/client.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { sharedApi, startApi, type TestApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { randomVector } from "../../support/api/versions.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { uncountedIn } from "../../support/quotas.ts";
import { random } from "../../support/seed.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const other = await startApi({ beside: api });
const { owner, project } = await api.ownedProject();
const { report } = importsOf(api, owner);
const embedding = base64Of(randomVector(DIMENSION, 1));
const vector = { vector: embedding, dimension: DIMENSION, threshold: 0 };
const at = (path: string) => `/projects/${project.slug}${path}`;
const file = (path: string) => ({
  record: "file",
  path,
  environments: ["production"],
  content: `# ${path}\n`,
  chunks: [{ content: path, embedding }],
});
await report(project, [{ record: "environment", name: "production" }, file("a.md")]);

const create = async (name: string) => {
  const { body } = await api.post(at("/releases"), { name, environment: "production" }, owner);
  return body.id as string;
};
const remove = (version: string) => api.send("DELETE", at(`/releases/${version}`), { as: owner });
const activate = (active_release: string | null) =>
  api.send("PATCH", at("/environments/production"), { as: owner, json: { active_release } });
const search = (node: TestApi, version: string) =>
  node.post(at(`/releases/${version}/search`), vector, owner);
const contents = () =>
  sql<{ id: string }[]>`SELECT id FROM release_contents WHERE project_id = ${project.id}`;

describe("DELETE /projects/{project_reference}/releases/{version}", () => {
  test("an owner deletes a release by name or id, and no server finds it any longer", async () => {
    const id = await create("v1");
    await create("v2");
    for (const node of [api, other]) {
      await until("the release is searched", async () => {
        return (await search(node, "v1")).body.data?.length === 1;
      });
    }
    for (const [name, reference] of [
      ["v1", id.toUpperCase()],
      ["v2", "v2"],
    ] as const) {
      const answer = await remove(reference);
      expect([answer.status, answer.text]).toEqual([204, ""]);
      const found = await search(api, name);
      expect([found.status, found.body.slug]).toEqual([404, "release-not-found"]);
      await until("the other server forgets it", async () => {
        return (await search(other, name)).status === 404;
      });
      expect((await remove(reference)).body.slug).toBe("release-not-found");
    }
    const [log] = await sql`
      SELECT kind FROM change_log WHERE project_id = ${project.id} AND ref = ${id} ORDER BY seq DESC LIMIT 1`;
    expect(log?.["kind"]).toBe("release");
    expect((await api.get(at("/files?environment=production"), owner)).body.data).toHaveLength(1);
    expect(await create("v1")).not.toBe(id);
    await remove("v1");
  });

  test("one that an environment serves is answered 409, until the environment serves another", async () => {
    await create("served");
    await activate("served");
    const answer = await remove("served");
    expect([answer.status, answer.body.slug]).toEqual([409, "release-in-use"]);
    await activate(null);
    expect((await remove("served")).status).toBe(204);
  });

  test("activation and deletion at once leave no environment with a release that is gone", async () => {
    const id = await create("raced");
    const activating = (tx: Transaction) => tx`
      UPDATE environments SET active_release_id = ${id}
      WHERE project_id = ${project.id} AND name = 'production'`;
    const refused = await beforeCommit(sql, activating, () => remove("raced"));
    expect([refused.status, refused.body.slug]).toEqual([409, "release-in-use"]);
    await activate(null);
    const late = await beforeCommit(
      sql,
      (tx) => tx`DELETE FROM releases WHERE id = ${id}`,
      () => activate("raced"),
    );
    expect([late.status, late.body.slug]).toEqual([404, "release-not-found"]);
    for (let round = 0; round < 10; round++) {
      await create("again");
      const [deleted, activated] = await Promise.all([remove("again"), activate("again")]);
      expect([
        [204, 404],
        [409, 200],
      ]).toContainEqual([deleted.status, activated.status]);
      await activate(null);
      if (deleted.status === 409) await remove("again");
    }
  });

  test("other releases keep their contents, in whichever order releases are deleted", async () => {
    const names: string[] = [];
    const before = await uncountedIn(sql, project.id);
    for (let i = 0; i < 12; i++) {
      await report(project, [file(`${i}.md`)]);
      await create(`r${i}`);
      names.push(`r${i}`);
      // The same contents once more.
      if (i % 4 === 0) {
        await create(`r${i}-same`);
        names.push(`r${i}-same`);
      }
    }
    const filesOf = async (name: string) =>
      (await api.get(at(`/files?release=${name}&limit=100`), owner)).body.data.length;
    while (names.length > 0) {
      const [name] = names.splice(Math.floor(random() * names.length), 1);
      expect((await remove(name as string)).status).toBe(204);
      for (const left of names) {
        expect(await filesOf(left)).toBe(2 + Number.parseInt(left.slice(1), 10));
      }
      expect(await uncountedIn(sql, project.id)).toBe(before);
    }
    expect(await contents()).toHaveLength(0);
  });

  test("an import goes on without a release that is deleted before its end", async () => {
    const id = await create("filling");
    await sql`UPDATE releases SET frozen_at = NULL WHERE id = ${id}`;
    const record = { record: "file", path: "late.md", releases: ["filling"], content: "x" };
    const imported = await beforeCommit(
      sql,
      (tx) => tx`DELETE FROM releases WHERE id = ${id}`,
      () => report(project, [record]),
    );
    expect(imported.errors).toEqual([]);
    expect((await search(api, "filling")).status).toBe(404);
  });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const owner = await api.user();
const project = await api.project(owner);
const path = `/projects/${project.slug}`;
const update = (json: unknown, as = owner) => api.send("PATCH", path, { as, json });

describe("PATCH /projects/{project_reference}", () => {
  test("an owner changes name and description, and absent fields stay", async () => {
    const before = (await api.get(path, owner)).body;
    const named = await update({ name: "New name", description: "What it is." });
    expect(named.status).toBe(200);
    const { updated_at, ...rest } = named.body;
    expect(rest).toEqual({
      ...{ ...before, updated_at: undefined },
      ...{ name: "New name", description: "What it is." },
    });
    expect(updated_at > before.updated_at).toBe(true);
    const described = await update({ description: "" });
    expect(described.body).toMatchObject({ name: "New name", description: "" });
    expect((await api.get(path, owner)).body).toEqual(described.body);
  });

  test("what is unchanged changes nothing", async () => {
    const { body } = await update({ name: "Same" });
    for (const json of [{ name: "Same" }, {}, { slug: "other", unknown: 1 }]) {
      expect((await update(json)).body).toEqual(body);
    }
    const entries = await api.sql`
      SELECT user_id, details FROM audit_log
      WHERE project_id = ${project.id} AND action = 'project.changed' AND details->>'name' = 'Same'`;
    expect([...entries]).toEqual([{ user_id: owner.userId, details: { name: "Same" } }]);
  });

  test("a text that is stored while the project gets an embedder is embedded", async () => {
    const own = await api.project(owner);
    const [file, version] = [randomUUID(), randomUUID()];
    const { status } = await beforeCommit(
      api.sql,
      async (tx) => {
        await tx`INSERT INTO files (id, project_id, path) VALUES (${file}, ${own.id}, 'a.md')`;
        await tx`
          INSERT INTO file_versions (id, project_id, file_id, version_key, content, title)
          VALUES (${version}, ${own.id}, ${file}, 'v1', 'A text.', 'a')`;
        // The project has no embedder yet, so the row is not stored.
        await tx`
          INSERT INTO embedding_queue (file_version_id, project_id) VALUES (${version}, ${own.id})`;
      },
      () =>
        api.send("PATCH", `/projects/${own.slug}`, { as: owner, json: { embedder: "hashing" } }),
    );
    expect(status).toBe(200);
    const [row] = await api.sql`
      SELECT EXISTS (SELECT FROM embedding_queue WHERE file_version_id = ${version})
        OR EXISTS (SELECT FROM chunks WHERE file_version_id = ${version}) AS embedded`;
    expect(row).toEqual({ embedded: true });
  });
});

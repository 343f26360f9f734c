import { describe, expect, test } from "bun:test";
import { RebuildWithdrawn, rebuildEmbeddings } from "../../src/content/embeddings/rebuild.ts";
import { withClaimedRebuild } from "../../src/content/embeddings/rebuild-requests.ts";
import type { ProjectEmbedder } from "../../src/embed/embedders/project-embedders.ts";
import { startApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";
import { until } from "../../support/until.ts";

const endpoint = startEmbeddingEndpoint();
endpoint.dimension = 1024;
const EMBEDDERS = JSON.stringify({
  e5: { url: endpoint.url, model: "e5-large", dimension: 1024 },
});
const OLD = "hashing:feature-hashing-1:768";
const NEW = "e5:e5-large:1024";
const api = await startApi({ env: { EMBEDDERS } });
const { sql } = api;
const owner = await api.user();
const { report } = importsOf(api, owner);

const change = (project: TestProject, json: object) =>
  api.send("PATCH", `/projects/${project.slug}`, { as: owner, json });
const stateOf = async (project: TestProject) =>
  (await api.get(`/projects/${project.slug}/index-state`, owner)).body;
const embedderOf = async (project: TestProject) =>
  (await api.get(`/projects/${project.slug}`, owner)).body.embedder;
const chunksBy = async (project: TestProject) =>
  (
    await sql<{ embedder: string; count: number }[]>`
      SELECT embedder, count(*)::integer AS count FROM chunks
      WHERE project_id = ${project.id} GROUP BY 1 ORDER BY 1`
  ).map(({ embedder, count }) => [embedder, count]);
const ask = (project: TestProject) =>
  api.post(`/projects/${project.slug}/retrieve`, { query: "tables", mode: "semantic" }, owner);
const untilEmbedded = (project: TestProject) =>
  until("all chunks are embedded", async () => (await stateOf(project)).embeddings_waiting === 0);

/** A project with three files whose chunks `hashing` has embedded. */
async function embedded(): Promise<TestProject> {
  const project = await api.project(owner);
  await change(project, { embedder: "hashing" });
  await report(project, [
    { record: "environment", name: "production" },
    ...["a", "b", "c"].map((name) => ({
      record: "file",
      path: `${name}.md`,
      environments: ["production"],
      content: `# About tables ${name}\n\nTables have rows.\n`,
    })),
  ]);
  await untilEmbedded(project);
  return project;
}

/** Holds the answers of the endpoint until the returned function is called. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  endpoint.instead = async ({ input }) => {
    await promise;
    const embedding = Array.from({ length: 1024 }, (_, i) => (i % 7) + 1);
    return Response.json({ data: input.map((_, index) => ({ index, embedding })) });
  };
  return resolve;
}

describe("PATCH /projects/{project_reference} with rebuild", () => {
  test("searches go on by the old embedder until all chunks have their new embeddings", async () => {
    const project = await embedded();
    const release = hold();
    const { status, body } = await change(project, { embedder: "e5", rebuild: true });
    expect([status, body.embedder]).toEqual([200, "hashing"]);
    expect((await stateOf(project)).embeddings_waiting).toBe(3);
    const answer = await ask(project);
    expect([answer.status, answer.body.data.length > 0]).toEqual([200, true]);
    expect(await chunksBy(project)).toEqual([[OLD, 3]]);
    release();
    await untilEmbedded(project);
    expect(await embedderOf(project)).toBe("e5");
    expect(await chunksBy(project)).toEqual([[NEW, 3]]);
    await until("searches find the new embeddings", async () => {
      const found = await ask(project);
      return found.status === 200 && found.body.data.length === 3;
    });
    const log = await sql`
      SELECT action, via, user_id, details FROM audit_log
      WHERE project_id = ${project.id} ORDER BY id DESC LIMIT 2`;
    const by = { via: "http", user_id: owner.userId };
    expect(log as object[]).toEqual([
      { action: "embeddings.rebuilt", ...by, details: { embedder: NEW } },
      {
        action: "project.changed",
        ...by,
        details: { embedder: NEW, earlier_embedder: OLD },
      },
    ]);
  });

  test("without an embedder the project's own embeds again, also texts that nothing has cut", async () => {
    const project = await embedded();
    await sql`
      UPDATE chunks SET embedding = decode(repeat('00', 3072), 'hex') WHERE project_id = ${project.id}`;
    expect((await change(project, { rebuild: true, name: "Named" })).body.name).toBe("Named");
    await untilEmbedded(project);
    const [zero] = await sql`
      SELECT 1 FROM chunks WHERE project_id = ${project.id} AND embedding = decode(repeat('00', 3072), 'hex')`;
    expect(zero).toBeUndefined();
    const bare = await api.project(owner);
    await report(bare, [
      { record: "environment", name: "production" },
      { record: "file", path: "a.md", environments: ["production"], content: "# A\n\ntext\n" },
    ]);
    const none = await change(bare, { rebuild: true });
    expect([none.status, none.body.errors[0].field]).toEqual([400, "embedder"]);
    expect((await change(bare, { rebuild: true, embedder: "nobody" })).status).toBe(400);
    await change(bare, { rebuild: true, embedder: "hashing" });
    await untilEmbedded(bare);
    expect(await chunksBy(bare)).toEqual([[OLD, 1]]);
  });

  test("another change of the embedder ends it, and leaves the old embeddings", async () => {
    const project = await embedded();
    const release = hold();
    await change(project, { embedder: "e5", rebuild: true });
    await change(project, { embedder: "hashing" });
    release();
    expect((await stateOf(project)).embeddings_waiting).toBe(0);
    const refused = await change(project, { embedder: "e5" });
    expect([refused.status, refused.body.slug]).toEqual([409, "embedder-mismatch"]);
    expect(await chunksBy(project)).toEqual([[OLD, 3]]);
    expect(await embedderOf(project)).toBe("hashing");
  });

  test("the last of several requests counts, and one that is withdrawn stores nothing", async () => {
    const project = await embedded();
    const embedder: ProjectEmbedder = {
      name: "gone",
      fingerprint: "gone:x:768",
      concurrency: 1,
      batchInputs: 32,
      async embedPassages(passages) {
        await sql`DELETE FROM rebuild_requests WHERE project_id = ${project.id}`;
        return passages.map(() => ({ vector: new Float32Array(768).fill(1), parts: 1 }));
      },
      embedQuery: () => Promise.reject(new Error("not here")),
    };
    await sql`INSERT INTO rebuild_requests (project_id, embedder, actor)
      VALUES (${project.id}, ${embedder.fingerprint}, '{}')`;
    const listener = { onStart() {}, onEmbedded() {}, onRefused() {}, onAway() {} };
    const rebuilding = withClaimedRebuild(sql, embedder.fingerprint, ({ id }) =>
      rebuildEmbeddings(sql, id, embedder, listener),
    );
    await expect(rebuilding).rejects.toBeInstanceOf(RebuildWithdrawn);
    const staged = await sql`SELECT 1 FROM embedding_rebuilds WHERE project_id = ${project.id}`;
    expect(staged).toHaveLength(0);
    const release = hold();
    await change(project, { embedder: "hashing", rebuild: true });
    await change(project, { embedder: "e5", rebuild: true });
    release();
    await untilEmbedded(project);
    expect(await chunksBy(project)).toEqual([[NEW, 3]]);
  });

  test("a rebuild whose process has died goes on in another one, and two never work on it at once", async () => {
    const project = await embedded();
    // No service has this embedder.
    await sql`INSERT INTO rebuild_requests (project_id, embedder, actor)
      VALUES (${project.id}, 'other:x:768', '{}')`;
    const claim = (work: () => Promise<void>) => withClaimedRebuild(sql, "other:x:768", work);
    const inner: boolean[] = [];
    const claimed = await claim(async () => {
      inner.push(await claim(async () => {}));
      throw new Error("died");
    }).catch(() => "died");
    expect([claimed, inner]).toEqual(["died", [false]]);
    expect(await claim(async () => {})).toBe(true);
  });

  test("editors may not ask for it", async () => {
    const project = await embedded();
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const { status, body } = await api.send("PATCH", `/projects/${project.slug}`, {
      as: editor,
      json: { embedder: "e5", rebuild: true },
    });
    expect([status, body.slug]).toEqual([403, "permission-denied"]);
    expect((await stateOf(project)).embeddings_waiting).toBe(0);
  });
});

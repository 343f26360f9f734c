import { describe, expect, test } from "bun:test";
import { REVOCATION_BOUND_MS } from "../../src/domain/limits.ts";
import { base64Of } from "../../src/domain/vector.ts";
import {
  sharedApi,
  startApi,
  startApiProcess,
  type TestApi,
  type TestProject,
} from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const api = await sharedApi();
const { sql } = api;
const other = await startApi({ beside: api });
const owner = await api.user();
const { post } = importsOf(api, owner);
const embedding = base64Of(randomVector(DIMENSION, 1));
const vector = { vector: embedding, dimension: DIMENSION, threshold: 0 };

/** A project with something in each of its tables that an import fills. */
async function filled(): Promise<TestProject> {
  const project = await api.project(owner);
  await post(project, [
    { record: "environment", name: "production" },
    {
      record: "file",
      path: "a.md",
      environments: ["production"],
      releases: ["v1"],
      content: "# A\n",
      chunks: [{ content: "# A", embedding }],
    },
    { record: "environment", name: "production", active_release: "v1" },
    { record: "branch", id: crypto.randomUUID(), name: "main" },
    { record: "conversation", id: crypto.randomUUID() },
    { record: "webhook_definition", id: `hook-${project.id}`, secret: "a long enough secret" },
  ]);
  return project;
}

const searchOn = (node: TestApi, { slug }: TestProject) =>
  node.post(`/projects/${slug}/environments/production/search`, vector, owner);
const remove = ({ slug }: TestProject, as = owner, confirm = slug) =>
  api.send("DELETE", `/projects/${slug}?confirm=${confirm}`, { as });

/** Waits until a node finds the vector of the project. */
async function untilFound(node: TestApi, project: TestProject): Promise<void> {
  await until(
    "the vector is found",
    async () => (await searchOn(node, project)).body.data?.length === 1,
  );
}

/** The tables that have rows of the project. */
async function tablesWith({ id }: TestProject): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'project_id'`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql`SELECT 1 FROM ${sql(name)} WHERE project_id = ${id} LIMIT 1`;
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

describe("DELETE /projects/{project_reference}", () => {
  test("nothing of the project is left, on any node, but its log entries", async () => {
    const project = await filled();
    const key = await api.key(owner, { project });
    for (const node of [api, other]) await untilFound(node, project);
    expect((await remove(project)).status).toBe(204);
    expect((await api.get(`/projects/${project.slug}`, owner)).status).toBe(404);
    expect((await api.get("/projects", key)).status).toBe(401);
    await Bun.sleep(REVOCATION_BOUND_MS);
    for (const node of [api, other]) {
      expect((await searchOn(node, project)).body.slug).toBe("project-not-found");
    }
    // Nodes report the state of their indexes every few seconds.
    await until(
      "no node reports an index of the project",
      async () => !(await tablesWith(project)).includes("index_state"),
    );
    expect(await tablesWith(project)).toEqual(["audit_log", "change_log"]);
    const [entry] = await sql`
      SELECT user_id, details FROM audit_log
      WHERE project_id = ${project.id} AND action = 'project.deleted'`;
    expect(entry).toEqual({ user_id: owner.userId, details: { slug: project.slug } });
  });

  test("searches that run meanwhile are answered with their results or that it is gone", async () => {
    const project = await filled();
    await untilFound(api, project);
    const statuses = new Set<number>();
    let ended = false;
    const searching = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!ended) statuses.add((await searchOn(api, project)).status);
        statuses.add((await searchOn(api, project)).status);
      }),
    );
    await remove(project);
    await until(
      "searches are answered that the project is gone",
      async () => (await searchOn(api, project)).status === 404,
    );
    ended = true;
    await searching;
    expect([...statuses].sort()).toEqual([200, 404]);
  });

  test("a process that dies in the middle leaves it whole, and it can be deleted again", async () => {
    const project = await filled();
    const dying = await startApiProcess({ beside: api });
    // What the nodes report of the project comes and goes by itself.
    const stored = async () => (await tablesWith(project)).filter((name) => name !== "index_state");
    const before = await stored();
    const held = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    const holding = sql.begin(async (tx) => {
      await tx`SELECT 1 FROM chunks WHERE project_id = ${project.id} FOR UPDATE`;
      held.resolve();
      await killed.promise;
    });
    await held.promise;
    const path = `/projects/${project.slug}?confirm=${project.slug}`;
    const answer = dying.send("DELETE", path, { as: owner }).catch(() => undefined);
    const waiting = () => sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
      AND query LIKE 'DELETE FROM projects%' AND datname = current_database()`;
    await until("the deletion waits for the lock", async () => (await waiting()).length > 0);
    dying.server.kill("SIGKILL");
    expect(await answer).toBeUndefined();
    killed.resolve();
    await holding;
    expect(await stored()).toEqual(before);
    expect((await remove(project)).status).toBe(204);
  });

  test("its slug is free again, and a new project has nothing of the old one", async () => {
    const project = await filled();
    await remove(project);
    const { body } = await api.post("/projects", { name: "Again", slug: project.slug }, owner);
    expect(body.slug).toBe(project.slug);
    const files = await api.get(`/projects/${project.slug}/files`, owner);
    expect(files.body.data).toEqual([]);
  });

  test("a wrong confirmation is refused by name, and an editor is answered 403", async () => {
    const project = await filled();
    for (const query of ["", "?confirm=", "?confirm=other", `?confirm=${project.id}`]) {
      const answer = await api.send("DELETE", `/projects/${project.slug}${query}`, { as: owner });
      expect([answer.status, answer.body.errors[0].field], query).toEqual([400, "confirm"]);
    }
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const answer = await remove(project, editor);
    expect([answer.status, answer.body.slug]).toEqual([403, "permission-denied"]);
    expect((await api.get(`/projects/${project.slug}`, owner)).status).toBe(200);
    const byId = `/projects/${project.id}?confirm=${project.slug}`;
    expect((await api.send("DELETE", byId, { as: owner })).status).toBe(204);
  });
});

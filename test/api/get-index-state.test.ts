import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { INDEX_REPORTS_CHANNEL } from "../../src/db/channels.ts";
import { INDEX_STATE_FRESH_SECONDS } from "../../src/domain/limits.ts";
import { noteParkedTask } from "../../src/index/changes/index-state.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { publishTexts } from "../../support/api/versions.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const path = `/projects/${project.slug}/index-state`;

/** The state of a project's indexes, once all servers were asked to report theirs, which they else do every few seconds. */
async function stateOf({ slug }: TestProject): Promise<Json> {
  await api.sql.notify(INDEX_REPORTS_CHANNEL, "");
  return (await api.get(`/projects/${slug}/index-state`, member)).body;
}

/** What a server reports of an index, which reported `age` seconds ago. */
async function report(dimension: number, recall: number | null, age = 0): Promise<string> {
  const node = randomUUID();
  await api.sql`
    INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
      recall, recall_samples, updated_at)
    VALUES (${node}, ${project.id}, ${dimension}, 9000000000, 7, 5, 4096, ${recall},
      ${recall === null ? null : 3}, now() - make_interval(secs => ${age}))`;
  return node;
}

describe("GET /projects/{project_reference}/index-state", () => {
  test("a project that no server has loaded has no indexes", async () => {
    const idle = await api.project(member);
    const { status, body } = await api.get(`/projects/${idle.id}/index-state`, member);
    expect([status, body]).toEqual([
      200,
      {
        complete: false,
        applied_sequence: null,
        last_sequence: null,
        last_changed_at: null,
        embeddings_waiting: 0,
        embeddings_failed: 0,
        embedding_failures: [],
        parked_tasks: [],
        data: [],
      },
    ]);
  });

  test("tasks of the index that fail are counted and named, in the project's state alone and by doctor", async () => {
    const [poison, other] = [await api.project(member), await api.project(member)];
    await noteParkedTask(api.sql, poison.id, "match");
    for (let time = 0; time < 2; time++) await noteParkedTask(api.sql, poison.id, "ensure");
    // A project that is gone by now is not worth an error.
    await noteParkedTask(api.sql, randomUUID(), "ensure");
    const parked_at = expect.stringMatching(/Z$/);
    const parkedOf = async (of: TestProject) => (await stateOf(of)).parked_tasks;
    expect(await parkedOf(poison)).toEqual([
      { task: "ensure", failures: 2, parked_at },
      { task: "match", failures: 1, parked_at },
    ]);
    expect(await parkedOf(other)).toEqual([]);
    const { stdout } = await callCommand(["doctor"], { env: { DATABASE_URL: api.databaseUrl } });
    const named = `parked tasks of ${poison.slug} +warning +ensure failed twice in a row 2 times`;
    expect(stdout).toMatch(new RegExp(named));
    await api.sql`UPDATE parked_tasks SET parked_at = now() - interval '1 day'`;
    expect(await parkedOf(poison)).toEqual([]);
  });

  test("no position is named while a server loads the project", async () => {
    const loaded = await api.project(member);
    await api.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes)
      VALUES (${randomUUID()}, ${loaded.id}, 0, -1, 0, 0, 4096)`;
    const { body } = await api.get(`/projects/${loaded.slug}/index-state`, member);
    expect([body.complete, body.applied_sequence]).toEqual([false, null]);
  });

  test("every index of every server is reported with its size, lag and recall", async () => {
    const node = await report(768, 0.5);
    const { body } = await api.get(path, member);
    expect(body.data.find(({ server }: Json) => server === node)).toEqual({
      server: node,
      dimension: 768,
      vectors: 7,
      graph_backlog: 2,
      documents: 0,
      memory_bytes: 4096,
      pending_changes: 0,
      recall: 0.5,
      recall_samples: 3,
      complete: false,
      updated_at: expect.stringMatching(/Z$/),
    });
  });

  test("recall is null before it was measured, and a server that stopped reporting is left out", async () => {
    const unmeasured = await report(1024, null);
    const stopped = await report(1536, null, INDEX_STATE_FRESH_SECONDS + 1);
    const { data } = (await api.get(path, member)).body;
    const found = data.find(({ server }: Json) => server === unmeasured);
    expect([found.recall, found.recall_samples]).toEqual([null, 0]);
    expect(data.some(({ server }: Json) => server === stopped)).toBe(false);
  });

  test("the service reports the texts that it has indexed, without a dimension", async () => {
    const texts = await api.project(member);
    const environment = await addEnvironment(api.sql, texts);
    await publishTexts(api.sql, texts, environment, { "a.md": "lantern" });
    const read = async () => (await stateOf(texts)).data[0];
    await until("the service reports the text", async () => {
      const state = await read();
      return state?.documents === 1 && state.pending_changes === 0;
    });
    expect(await read()).toMatchObject({ dimension: null, documents: 1, pending_changes: 0 });
  });

  test("an index is complete when all changes are applied, and nothing is left to build", async () => {
    const own = await api.project(member);
    const environment = await addEnvironment(api.sql, own);
    await publishTexts(api.sql, own, environment, { "a.md": "lantern" });
    const read = () => stateOf(own);
    await until("the index is complete", async () => (await read()).complete);
    const whole = await read();
    expect(whole).toMatchObject({ complete: true, data: [{ complete: true, documents: 1 }] });
    expect(whole.applied_sequence).toBeGreaterThanOrEqual(whole.last_sequence);
    const add = (graphed: number, settled: boolean) => api.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
        settled)
      VALUES (${randomUUID()}, ${own.id}, 768, 9000000000, 7, ${graphed}, 1, ${settled})`;
    await add(7, true);
    expect((await read()).complete).toBe(true);
    for (const incomplete of [() => add(6, true), () => add(7, false)]) {
      await incomplete();
      expect((await read()).complete).toBe(false);
      await api.sql`DELETE FROM index_state WHERE project_id = ${own.id} AND seq = 9000000000`;
    }
  });

  test("an index is not complete between a change and its report", async () => {
    const own = await api.project(member);
    const environment = await addEnvironment(api.sql, own);
    await publishTexts(api.sql, own, environment, { "a.md": "lantern" });
    const read = () => stateOf(own);
    await until("the index is complete", async () => (await read()).complete);
    const { last_sequence: before, last_changed_at: earlier } = await read();
    await publishTexts(api.sql, own, environment, { "b.md": "compass" });
    let state = await read();
    expect(state.last_sequence).toBeGreaterThan(before);
    expect(Date.parse(state.last_changed_at)).toBeGreaterThan(Date.parse(earlier));
    await until("the index is complete again", async () => {
      state = await read();
      return state.complete;
    });
    expect(state.data[0].documents).toBe(2);
  });

  test("/metrics says whether the indexes of the process are complete", async () => {
    const read = async () => await (await fetch(`${api.url}/metrics`)).text();
    await until("the indexes of the process are complete", async () =>
      /^tessera_index_complete 1$/m.test(await read()),
    );
    expect(await read()).toMatch(/^tessera_index_graph_backlog 0$/m);
  });
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { INDEX_STATE_FRESH_SECONDS } from "../../src/shared/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../support/api.ts";
import { hidesFromForeigners, needsPermission, refusesBadCredentials } from "../support/guards.ts";
import { publishTexts } from "../support/knowledge.ts";
import type { Json } from "../support/openapi.ts";

setDefaultTimeout(120_000);

const WAIT_MS = 60_000;
const api = await startApi();
const member = await api.user();
const project = await api.project(member);
const path = `/projects/${project.slug}/index-state`;

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
    expect([status, body]).toEqual([200, { data: [] }]);
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
    const read = async () =>
      (await api.get(`/projects/${texts.slug}/index-state`, member)).body.data[0];
    const deadline = Date.now() + WAIT_MS;
    while ((await read())?.documents !== 1 && Date.now() < deadline) await Bun.sleep(50);
    expect(await read()).toMatchObject({ dimension: null, documents: 1, pending_changes: 0 });
  });

  needsPermission({ api, path, project });
  refusesBadCredentials({ api, path });
  hidesFromForeigners({
    api,
    path,
    missingPath: `/projects/${randomUUID()}/index-state`,
    project,
    member,
    slug: "project-not-found",
  });
});

import { expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const CHUNKS = 400;
const ROUNDS = 5;
/** A rebuild is requested so often in a row, so that most of them interrupt the one before. */
const REQUESTS = 10;
const PAUSE_MS = 10;
const CLIENTS = 4;
const TEST_TIMEOUT_MS = 600_000;

const api = await sharedApi();
const { sql } = api;
const { owner: user, project } = await api.ownedProject();
const environment = await addEnvironment(sql, project);
const chunks = Array.from({ length: CHUNKS }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
await attach(sql, project, environment.id, [await writeVersion(sql, project, "a.md", chunks)]);

const vector = Array.from(randomVector(DIMENSION, 1));
const query = { vector, dimension: DIMENSION, threshold: 0, limit: 100 };
const searchPath = `/projects/${project.id}/environments/production/search`;
const lookupPath = `/projects/${project.id}/knowledge/lookup`;

/** The contents that a search finds, and how many chunks have them. */
async function search() {
  const { status, text, body } = await api.post(searchPath, query, user);
  expect(status, text).toBe(200);
  const contents = body.data.map((hit: Json): string => hit.chunk.content);
  return { count: contents.length, contents: [...new Set<string>(contents)] };
}

test(
  "searches and lookups that meet the rebuild of their project's index are answered in full, never with 404",
  async () => {
    const { count } = await search();
    expect(count).toBeGreaterThan(1);
    let isDone = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isDone) {
        expect((await search()).count).toBe(count);
        const { status, text, body } = await api.post(lookupPath, {}, user);
        expect([status, body.data?.length], text).toEqual([200, 1]);
      }
    });
    for (let i = 0; i < ROUNDS; i++) {
      const content = `contents of round ${i}`;
      // The change log has no entry for this, so only a rebuilt index can show it.
      await sql`UPDATE chunks SET content = ${content} WHERE project_id = ${project.id}`;
      for (let request = 0; request < REQUESTS; request++) {
        await sql`SELECT append_change(${project.id}, 'rebuild', ${project.id})`;
        await Bun.sleep(PAUSE_MS);
      }
      await until(
        `the rebuilt index shows the ${content}`,
        async () => `${(await search()).contents}` === content,
      );
    }
    isDone = true;
    await Promise.all(clients);
  },
  TEST_TIMEOUT_MS,
);

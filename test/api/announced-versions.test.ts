import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { announceVersions } from "../../src/content/import/put/announce.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { untilReady } from "../../support/api/world.ts";
import { scrape } from "../../support/prometheus.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;

const api = await startApi();
await untilReady(api.url);
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(sql, project);
const at = `/projects/${project.slug}`;

async function search(vector: Float32Array<ArrayBuffer>): Promise<string[]> {
  const json = { vector: Array.from(vector), dimension: DIMENSION, threshold: 0.9 };
  const { body } = await api.post(`${at}/environments/production/search`, json, member);
  return body.data.map((hit: Json) => hit.chunk.id);
}

/** Vectors in the service's memory. */
const indexed = async () => (await scrape(api.url)).sum("tessera_index_vectors");

test("a version whose commit was lost after its announcement is found once it is imported again", async () => {
  const chunk = chunkOf(randomVector(DIMENSION, 9));
  const lost = randomUUID();
  const [kept] = await sql.begin(async (tx) => [
    await writeVersion(tx as never, project, "docs/kept.md", [chunkOf(randomVector(DIMENSION, 8))]),
  ]);
  // The project is in memory from its first search on.
  expect(await search(chunk.vector)).toEqual([]);
  const before = await indexed();
  const ids = [lost, (kept as { id: string }).id];
  await announceVersions(
    sql,
    ids.map((id) => ({ projectId: project.id, id })),
  );
  await until(
    "the announced version that is stored is indexed",
    async () => (await indexed()) === before + 1,
  );

  await sql.begin(async (tx) => {
    const version = await writeVersion(tx as never, project, "docs/lost.md", [chunk], lost);
    await attach(tx as never, project, environment.id, [version]);
  });
  await until(
    "the version that was lost before is found",
    async () => (await search(chunk.vector)).length > 0,
  );
  expect(await search(chunk.vector)).toEqual([chunk.id]);
  const { body } = await api.post(`${at}/knowledge/lookup`, { query: chunk.id }, member);
  expect(body.data.map(({ path }: Json) => path)).toContain("docs/lost.md");
});

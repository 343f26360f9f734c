import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { announceVersions } from "../../src/import/put/announce.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { untilReady } from "../../support/api/world.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;

const api = await startApi();
await untilReady(api.url);
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const environment = await addEnvironment(sql, project);
const path = `/projects/${project.slug}/environments/production/search`;

const vectors = Array.from({ length: 3 }, (_, i) => randomVector(DIMENSION, i + 1));

async function search(vector: Float32Array<ArrayBuffer>): Promise<string[]> {
  const response = await fetch(new URL(path, api.url), {
    method: "POST",
    headers: { ...member.headers, "content-type": "application/json" },
    body: JSON.stringify({ vector: Array.from(vector), dimension: DIMENSION, threshold: 0.9 }),
  });
  const body = (await response.json()) as { data: Array<{ chunk: { id: string } }> };
  return body.data.map((hit) => hit.chunk.id);
}

/** Vectors in the service's memory. */
const indexed = async () => {
  const text = await (await fetch(new URL("/metrics", api.url))).text();
  return Number(/^tessera_index_vectors (\d+)/m.exec(text)?.[1]);
};

test("announced versions are indexed before a scope holds them, and found once one does", async () => {
  const chunks = vectors.map((vector) => chunkOf(vector));
  const [first, ...announced] = await sql.begin(async (tx) => {
    const written = [];
    for (const [i, chunk] of chunks.entries()) {
      written.push(await writeVersion(tx as never, project, `docs/${i}.md`, [chunk]));
    }
    return written;
  });
  await attach(sql, project, environment.id, [first as never]);
  await until("the attached version is indexed", async () => (await indexed()) === 1);

  const versions = announced.map(({ id }) => ({ projectId: project.id, id }));
  const nowhere = { projectId: randomUUID(), id: randomUUID() };
  await announceVersions(sql, [...versions, nowhere]);
  await until("the announced versions are indexed", async () => (await indexed()) === 3);
  expect(await indexed()).toBe(3);
  expect(await search(vectors[1] as Float32Array<ArrayBuffer>)).toEqual([]);

  await attach(sql, project, environment.id, announced as never);
  const found = () => search(vectors[1] as Float32Array<ArrayBuffer>);
  await until("the announced version is found", async () => (await found()).length > 0);
  expect(await found()).toEqual([(chunks[1] as { id: string }).id]);
});

test("a version whose commit was lost after its announcement is found once it is imported again", async () => {
  const chunk = chunkOf(randomVector(DIMENSION, 9));
  const lost = randomUUID();
  const [kept] = await sql.begin(async (tx) => [
    await writeVersion(tx as never, project, "docs/kept.md", [chunkOf(randomVector(DIMENSION, 8))]),
  ]);
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
  const lookup = await fetch(new URL(`/projects/${project.slug}/knowledge/lookup`, api.url), {
    method: "POST",
    headers: { ...member.headers, "content-type": "application/json" },
    body: JSON.stringify({ query: chunk.id }),
  });
  const { data } = (await lookup.json()) as { data: Array<{ path: string }> };
  expect(data.map(({ path }) => path)).toContain("docs/lost.md");
});

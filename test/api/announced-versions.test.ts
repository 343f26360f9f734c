import { expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { announceVersions } from "../../src/import/upsert/announce.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApiProcess } from "../support/api.ts";
import { untilReady } from "../support/index-world.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../support/vectors.ts";

setDefaultTimeout(120_000);

const WAIT_MS = 60_000;
const DIMENSION = 768;

const api = await startApiProcess();
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

async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await done()) && Date.now() < deadline) await Bun.sleep(50);
}

const indexed = async () => {
  const [row] = await sql`
    SELECT sum(vectors)::int AS vectors FROM index_state WHERE project_id = ${project.id}`;
  return row?.vectors as number | null;
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
  await until(async () => (await indexed()) === 1);

  const versions = announced.map(({ id }) => ({ projectId: project.id, id }));
  const nowhere = { projectId: randomUUID(), id: randomUUID() };
  await announceVersions(sql, [...versions, nowhere]);
  await until(async () => (await indexed()) === 3);
  expect(await indexed()).toBe(3);
  expect(await search(vectors[1] as Float32Array<ArrayBuffer>)).toEqual([]);

  await attach(sql, project, environment.id, announced as never);
  const found = () => search(vectors[1] as Float32Array<ArrayBuffer>);
  await until(async () => (await found()).length > 0);
  expect(await found()).toEqual([(chunks[1] as { id: string }).id]);
});

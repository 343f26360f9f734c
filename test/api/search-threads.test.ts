import { expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi, type TestApi } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { Scrape } from "../../support/prometheus.ts";

const DIMENSION = 768;
const SHARD_VECTORS = 4_096;
/** More than one shard. */
const CHUNKS = 4_500;
const REQUESTS = 20;

/** A service with a project that has so many chunks, and a search of its environment. */
async function startWith(env: Record<string, string>, count: number) {
  const api = await startApi({ env: { SEARCH_ENGINE: "embedded", ...env } });
  const member = await api.user();
  const project = await api.project(member);
  const environment = await addEnvironment(api.sql, project);
  const chunks = Array.from({ length: count }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
  const version = await writeVersion(api.sql, project, "a.md", chunks);
  await attach(api.sql, project, environment.id, [version]);
  const search = async (query: Float32Array<ArrayBuffer>) => {
    const path = `/projects/${project.slug}/environments/production/search`;
    const json = { vector: Array.from(query), dimension: DIMENSION, limit: 1 };
    const { status, body } = await api.post(path, json, member);
    expect(status).toBe(200);
    return body.data[0].chunk.id as string;
  };
  const lookUp = async () => {
    const path = `/projects/${project.slug}/knowledge/lookup`;
    expect((await api.post(path, { query: "text" }, member)).status).toBe(200);
  };
  return { api, chunks, search, lookUp };
}

/** How many searches and lookups have waited for a search thread. */
async function handedOff(api: TestApi): Promise<number> {
  const scrape = new Scrape(await (await fetch(`${api.url}/metrics`)).text());
  const samples = scrape.samples("tessera_search_pool_wait_seconds_count");
  return samples.reduce((sum, { value }) => sum + value, 0);
}

test.each([
  ["0", "every search and lookup runs on a search thread", REQUESTS * 2, REQUESTS * 2],
  ["100", "cheap searches and lookups do without one", 1, REQUESTS * 2 - 1],
])("with SEARCH_INLINE_MS=%s %s", async (ms, _, least, most) => {
  const { api, chunks, search, lookUp } = await startWith({ SEARCH_INLINE_MS: ms }, 10);
  for (let i = 0; i < REQUESTS; i++) {
    const chunk = chunks[i % chunks.length];
    expect(await search(chunk?.vector as Float32Array<ArrayBuffer>)).toBe(chunk?.id as string);
    await lookUp();
  }
  expect(await handedOff(api)).toBeWithin(least, most + 1);
});

test("with INDEX_SHARD_VECTORS an index has more shards, and searches find chunks of each", async () => {
  const env = { INDEX_SHARD_VECTORS: String(SHARD_VECTORS) };
  const { chunks, search } = await startWith(env, CHUNKS);
  for (const at of [0, SHARD_VECTORS - 1, SHARD_VECTORS, CHUNKS - 1]) {
    const { id, vector } = chunks[at] as (typeof chunks)[number];
    expect(await search(vector)).toBe(id);
  }
  const shards = native
    .projects()
    .flatMap((name) => native.stats(name)?.dimensions ?? [])
    .map((index) => index.shards);
  expect(Math.max(...shards)).toBe(Math.ceil(CHUNKS / SHARD_VECTORS));
});

import { expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { Scrape } from "../../support/prometheus.ts";

const DIMENSION = 768;
const SHARD_VECTORS = 5_000;
const REQUESTS = 20;

const api = await startApi({
  env: {
    ...{ SEARCH_ENGINE: "embedded", SEARCH_INLINE_MS: "0" },
    INDEX_SHARD_VECTORS: String(SHARD_VECTORS),
  },
});

test("with INDEX_SHARD_VECTORS indexes have shards of that size", () => {
  const { indexShardVectors } = loadConfig({});
  expect(native.setShardNodes(indexShardVectors)).toBe(SHARD_VECTORS);
});

/** How many searches and lookups have waited for a search thread. */
async function handedOff(): Promise<number> {
  const scrape = new Scrape(await (await fetch(`${api.url}/metrics`)).text());
  const samples = scrape.samples("tessera_search_pool_wait_seconds_count");
  return samples.reduce((sum, { value }) => sum + value, 0);
}

test("with SEARCH_INLINE_MS=0 every search and lookup runs on a search thread", async () => {
  const member = await api.user();
  const project = await api.project(member);
  const environment = await addEnvironment(api.sql, project);
  const vector = randomVector(DIMENSION, 1);
  const version = await writeVersion(api.sql, project, "a.md", [chunkOf(vector)]);
  await attach(api.sql, project, environment.id, [version]);
  const requests: [operation: string, body: object][] = [
    ["environments/production/search", { vector: [...vector], dimension: DIMENSION }],
    ["knowledge/lookup", { query: "text" }],
  ];
  for (let i = 0; i < REQUESTS; i++) {
    for (const [operation, body] of requests) {
      const answer = await api.post(`/projects/${project.slug}/${operation}`, body, member);
      expect([operation, answer.status]).toEqual([operation, 200]);
    }
  }
  expect(await handedOff()).toBe(requests.length * REQUESTS);
});

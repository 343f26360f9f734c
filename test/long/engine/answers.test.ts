import { expect, test } from "bun:test";
import fc from "fast-check";
import { SEARCH_LIMIT_MAX } from "../../../src/domain/limits.ts";
import { recalibrate } from "../../../src/engine/pgvector/catalogue.ts";
import { CALIBRATED_LIMITS, candidatesFor } from "../../../src/engine/pgvector/search-statement.ts";
import { addEnvironment } from "../../../support/accounts.ts";
import { startApi } from "../../../support/api/api.ts";
import {
  attach,
  chunkOf,
  cosineOf,
  nearVector,
  randomVector,
  writeVersion,
} from "../../../support/api/versions.ts";
import {
  best,
  chunksOf,
  createWorld,
  DIMENSION,
  eventually,
  expectBest,
  idsOf,
  LIMIT,
  look,
  textVectors,
  untilComplete,
  writeFiles,
} from "./support.ts";

const CHUNKS = 12_000;
const QUERIES = 40;

const world = await createWorld();
const { api, sql, project } = world;
const vectors = textVectors(CHUNKS + QUERIES, 1);
const queries = vectors.splice(CHUNKS);
const versions = await writeFiles(world, vectors);
for (const [name, files] of [
  ["half", 120],
  ["twentieth", 12],
  ["hundredth", 3],
] as const) {
  const { id } = await addEnvironment(sql, project, name);
  await attach(sql, project, id, versions.slice(0, files));
}
await untilComplete(world);

test.each([
  ["production", versions.length, "graph"],
  ["half", 120, "graph"],
  ["twentieth", 12, "scan"],
  ["hundredth", 3, "exact"],
] as const)(
  "a search of the environment %s finds the best chunks and is never short",
  async (environment, files, plan) => {
    const chunks = chunksOf(versions.slice(0, files));
    await expectBest(world, api, queries, { chunks, plan, environment });
    for (const query of queries) {
      const all = await look(world, api, query, { environment, limit: SEARCH_LIMIT_MAX });
      const passing = chunks.filter(({ vector }) => cosineOf(vector, query) >= 0).length;
      expect(idsOf(all)).toHaveLength(Math.min(SEARCH_LIMIT_MAX, passing));
    }
  },
);

test.each([
  [120, "graph"],
  [12, "scan"],
  [3, "exact"],
] as const)(
  "a search with a filter that matches %s files finds the best chunks of them and is never short",
  async (files, plan) => {
    // Every other file: none of the environments holds the same.
    const matching = versions.filter((_, i) => i % 2 === 1).slice(0, files);
    const chunks = chunksOf(matching);
    const filter = { path: { $in: matching.map(({ path }) => path) } };
    await expectBest(world, api, queries, { chunks, plan, filter });
    const [query] = queries as [Float32Array];
    const exact = await look(world, api, query, { filter, effort: "exact" });
    expect(idsOf(exact)).toEqual(best(chunks, query, LIMIT));
  },
);

test("an exact search of a large scope finds what brute force finds", async () => {
  for (const query of queries.slice(0, 5)) {
    const answer = await look(world, api, query, { effort: "exact" });
    expect(answer.headers.get("x-search-plan")).toBe("exact");
    expect(idsOf(answer)).toEqual(best(chunksOf(versions), query, LIMIT));
  }
});

test("the threshold removes hits after the search, whatever the plan", async () => {
  for (const environment of ["production", "twentieth", "hundredth"]) {
    const [query] = queries as [Float32Array];
    const all = await look(world, api, query, { environment });
    const scores: number[] = all.body.data.map((hit: { score: number }) => hit.score);
    const threshold = scores[4] as number;
    const some = await look(world, api, query, { environment, threshold });
    expect(idsOf(some)).toEqual(idsOf(all).slice(0, 5));
    expect(some.body.total_matches).toBe(5);
  }
});

test("both engines give the same answers, byte for byte except for the time", async () => {
  const embedded = await startApi({ beside: api, env: { VECTOR_DATABASE_URL: undefined } });
  const { id } = await addEnvironment(sql, project, "small");
  const centre = randomVector(DIMENSION, 7);
  const near = Array.from({ length: 150 }, (_, i) => chunkOf(nearVector(centre, i / 100, i)));
  const twins = Array.from({ length: 30 }, () => chunkOf(centre));
  await attach(sql, project, id, [await writeVersion(sql, project, "s.md", [...near, ...twins])]);
  const environment = "small";
  const isThere = (of: typeof api) =>
    eventually(
      "the environment is searchable",
      () => look(world, of, centre, { environment }),
      ({ body }) => body.data?.length > 0,
    );
  await Promise.all([isThere(api), isThere(embedded)]);
  const textOf = async (of: typeof api, query: Float32Array, ask: object) => {
    const { text, status } = await look(world, of, query, { environment, ...ask });
    expect(status).toBe(200);
    return text.replace(/"search_time_ms":[\d.e-]+/, "");
  };
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: SEARCH_LIMIT_MAX }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.constantFrom(undefined, "exact"),
      async (limit, threshold, seed, effort) => {
        const query = nearVector(centre, 0.5, seed);
        const ask = { limit, threshold, ...(effort ? { effort } : {}) };
        expect(await textOf(api, query, ask)).toBe(await textOf(embedded, query, ask));
      },
    ),
    { numRuns: 60 },
  );
});

test("searches of a table in which live ones find too little compare twice as many candidates, up to a bound", async () => {
  const read = async () => {
    const [row] = await sql<{ candidates: number[] }[]>`
      SELECT candidates FROM tessera_vectors.tables WHERE calibrated_rows IS NOT NULL`;
    return row?.candidates;
  };
  const again = async () => {
    await recalibrate(sql, { projectId: project.id, dimension: DIMENSION });
    const isCalibrated = (candidates?: number[]) => candidates !== undefined;
    return await eventually("the table is calibrated", read, isCalibrated);
  };
  const before = (await read()) as number[];
  expect(await again()).toEqual(before.map((candidates) => 2 * candidates));
  // However often it is asked for, what is stored stays a number that the next step can double.
  const bounds = CALIBRATED_LIMITS.map((limit) => candidatesFor(limit, null));
  await sql`UPDATE tessera_vectors.tables SET candidates = ${bounds}`;
  expect(await again()).toEqual(bounds);
});

/** All hits of a retrieval by vector, and whether the last page says that there may be more. */
async function retrieved(query: Float32Array, environment: string) {
  const ids: string[] = [];
  const target = { environment };
  const first = { vector: Array.from(query), dimension: DIMENSION, limit: 100, target };
  for (let asked: object = { ...first, mode: "semantic", threshold: 0 }; ; ) {
    const { status, body, headers } = await api.post(
      `/projects/${project.slug}/retrieve`,
      asked,
      world.member,
    );
    expect(status).toBe(200);
    for (const { chunk } of body.data) ids.push(chunk.id);
    const { next } = body.page_info;
    if (next === null) return { ids, isCut: headers.get("x-next-page") === "unavailable" };
    asked = { cursor: next };
  }
}

test.each([
  ["half", 120],
  ["production", versions.length],
] as const)(
  "the pages of a retrieval in the environment %s list every chunk once, up to 10,000, and say if there may be more",
  async (environment, files) => {
    // Most vectors are on the side of their sum.
    const sum = new Float32Array(DIMENSION).map((_, i) =>
      vectors.reduce((total, vector) => total + (vector[i] as number), 0),
    );
    const chunks = chunksOf(versions.slice(0, files));
    const passing = chunks.filter(({ vector }) => cosineOf(vector, sum) >= 0).length;
    const { ids, isCut } = await retrieved(sum, environment);
    expect(new Set(ids).size).toBe(ids.length);
    expect(isCut).toBe(passing > 10_000);
    expect(ids.length).toBeWithin(Math.min(passing, 10_000) - 100, Math.min(passing, 10_000) + 1);
  },
);

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { DIMENSIONS, SEARCH_LIMIT_MAX } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Answer, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  attach,
  chunkOf,
  nearVector,
  randomVector,
  type TestChunk,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { nearest, searchForms } from "./searches.ts";

const CHUNKS = 40;
const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(sql, project);
const path = `/projects/${project.slug}/environments/production/search`;

/** Chunks of one dimension at increasing distances from their query, some below the threshold. */
function chunksAround(query: Float32Array<ArrayBuffer>): TestChunk[] {
  return Array.from({ length: CHUNKS }, (_, i) => chunkOf(nearVector(query, i / 20, i + 1)));
}

const queries = new Map(DIMENSIONS.map((d) => [d as number, randomVector(d, 1_000 + d)]));
const queryOf = (dimension: number) => queries.get(dimension) as Float32Array<ArrayBuffer>;
const chunks = new Map(DIMENSIONS.map((d) => [d as number, chunksAround(queryOf(d))]));
await sql.begin(async (tx) => {
  for (const dimension of DIMENSIONS) {
    const list = chunks.get(dimension) as TestChunk[];
    const path = `docs/${dimension}.md`;
    const version = await writeVersion(tx as never, project, path, list);
    await attach(tx as never, project, environment.id, [version]);
  }
});

const look = (json: unknown, at = path) => api.post(at, json, member);
const idsOf = (answer: Answer): string[] => answer.body.data.map((hit: Json) => hit.chunk.id);

describe("POST /projects/{project_reference}/environments/{environmentName}/search", () => {
  test.each(DIMENSIONS.map((dimension) => [dimension]))(
    "dimension %d is searched in every form of body",
    async (dimension) => {
      const query = queryOf(dimension);
      const wanted = nearest(chunks.get(dimension) as TestChunk[], query);
      expect(wanted).toHaveLength(10);
      for (const ask of searchForms(api, member, path, query)) {
        const { status, body } = await ask("");
        expect(status).toBe(200);
        expect(body.data.map((hit: Json) => hit.chunk.id)).toEqual(wanted.map(({ id }) => id));
        for (const [i, { score }] of wanted.entries()) {
          expect(body.data[i].score).toBeCloseTo(score, 6);
          expect(body.data[i].match_type).toBe("semantic");
        }
        expect(body.total_matches).toBeGreaterThanOrEqual(10);
        expect(body.page_info).toEqual({ self: path, first: null, next: null, prev: null });
        expect(body.search_time_ms).toBeGreaterThanOrEqual(0);
      }
    },
  );

  test("a result contains the whole chunk, with every digit of its metadata", async () => {
    const [nearest] = chunks.get(768) as [TestChunk];
    const answer = await look({ vector: Array.from(queryOf(768)), dimension: 768, limit: 1 });
    const { chunk } = answer.body.data[0];
    expect(chunk).toMatchObject({
      id: nearest.id,
      file_path: "docs/768.md",
      index: 0,
      content: nearest.content,
      start_offset: 0,
      end_offset: 9,
      token_count: 2,
    });
    expect(chunk.metadata.headings).toEqual(["A", "B"]);
    expect(answer.text).toContain("12345678901234567890");
  });

  test("any limit and threshold return the results of brute force", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 1, max: SEARCH_LIMIT_MAX, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.constantFrom(...DIMENSIONS),
        async (limit, threshold, seed, dimension) => {
          const query = nearVector(queryOf(dimension), 0.5, seed);
          const list = chunks.get(dimension) as TestChunk[];
          const wanted = nearest(list, query, Math.floor(limit), threshold);
          const vector = Array.from(query);
          const { status, body } = await look({ vector, dimension, limit, threshold });
          expect(status).toBe(200);
          const hits: Json[] = body.data;
          expect(hits.map((hit) => hit.chunk.id)).toEqual(wanted.map(({ id }) => id));
          if (wanted.length < Math.floor(limit)) expect(body.total_matches).toBe(wanted.length);
          else expect(body.total_matches).toBeGreaterThanOrEqual(wanted.length);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a null limit or threshold counts as absent", async () => {
    const query = { vector: Array.from(queryOf(768)), dimension: 768 };
    // Sent as text, because the API document does not mention null.
    const nulls = await api.send("POST", path, {
      as: member,
      body: JSON.stringify({ ...query, limit: null, threshold: null }),
      headers: { "content-type": "application/json" },
    });
    expect(nulls.status).toBe(200);
    expect(idsOf(nulls)).toEqual(idsOf(await look(query)));
  });

  test("page_info.self is the path of the request as sent, including escapes", async () => {
    await addEnvironment(sql, project, 'a "b" ü');
    const at = `/projects/${project.slug}/environments/a%20%22b%22%20%C3%BC/search`;
    const { status, body } = await look({ vector: Array.from(queryOf(768)), dimension: 768 }, at);
    expect(status).toBe(200);
    expect(body.page_info.self).toBe(at);
  });
});

describe("what an environment's search sees", () => {
  const vector = randomVector(768, 5);
  const body = { vector: Array.from(vector), dimension: 768, threshold: 0.99 };

  async function scene() {
    const own = await api.project(member);
    const env = await addEnvironment(sql, own);
    const at = `/projects/${own.slug}/environments/production/search`;
    const seen = (wanted: readonly string[]) =>
      until(`a search finds [${wanted}]`, async () => {
        return `${idsOf(await look(body, at)).sort()}` === `${wanted.toSorted()}`;
      });
    return { own, env, seen };
  }

  test("a committed change is found, and a new version replaces the old one", async () => {
    const { own, env, seen } = await scene();
    await seen([]);
    const first = await writeVersion(sql, own, "a.md", [chunkOf(vector)]);
    await attach(sql, own, env.id, [first]);
    await seen(first.chunks.map(({ id }) => id));
    const second = await writeVersion(sql, own, "a.md", [chunkOf(vector)]);
    await attach(sql, own, env.id, [second]);
    await seen(second.chunks.map(({ id }) => id));
    await sql`DELETE FROM environment_files WHERE environment_id = ${env.id}`;
    await seen([]);
  });

  test("chunks without a vector, or of other environments or projects, are not found", async () => {
    const { own, env, seen } = await scene();
    const other = await addEnvironment(sql, own, "staging");
    const mine = await writeVersion(sql, own, "mine.md", [chunkOf(vector)]);
    const theirs = await writeVersion(sql, own, "theirs.md", [chunkOf(vector)]);
    await attach(sql, own, other.id, [theirs]);
    await attach(sql, own, env.id, [mine]);
    await sql`
      INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content)
      VALUES (${randomUUID()}, ${own.id}, ${mine.fileId}, ${mine.id}, 'mine.md', 9, 'no vector')`;
    await seen(mine.chunks.map(({ id }) => id));
  });

  test("a chunk whose vector is all zeros is skipped, and its neighbours are found", async () => {
    const { own, env, seen } = await scene();
    const version = await writeVersion(sql, own, "a.md", [
      chunkOf(new Float32Array(768)),
      chunkOf(vector),
    ]);
    await attach(sql, own, env.id, [version]);
    await seen([version.chunks[1]?.id as string]);
  });
});

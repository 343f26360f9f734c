import { describe, expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { cosineOf, nearVector, randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { questionPages } from "./paging.ts";

const DIMENSION = 768;
const FILES = 30;

const api = await sharedApi();
const { owner, project } = await api.ownedProject();
await addEnvironment(api.sql, project);

const centre = randomVector(DIMENSION, 1);

interface TestChunk {
  readonly content: string;
  readonly vector: Float32Array;
}

/** Files of 1 to 8 chunks. The first has so many near ones that they would fill several pages. */
const files = Array.from({ length: FILES }, (_, f) => {
  const count = f === 0 ? 40 : 1 + (f % 8);
  const chunks = Array.from({ length: count }, (_, c): TestChunk => {
    const noise = f === 0 ? 0.1 : 0.2 + ((f * 7 + c * 5) % 23) / 8;
    const words = c % 3 === 0 ? "a heron at the lake" : c % 3 === 1 ? "a heron" : "nothing much";
    const content = `Passage ${c} of file ${f} shows ${words}.`;
    return { content, vector: nearVector(centre, noise, 1_000 + f * 100 + c) };
  });
  return {
    path: `birds/${String(f).padStart(2, "0")}.md`,
    lang: f % 2 === 0 ? "en" : "de",
    chunks,
  };
});

await importsOf(api, owner).report(
  project,
  files.map(({ path, lang, chunks }) => ({
    record: "file",
    path,
    environments: ["production"],
    content: `---\ntitle: Title of ${path}\nlang: ${lang}\n---\n${chunks.map(({ content }) => content).join("\n\n")}`,
    chunks: chunks.map(({ content, vector }) => ({ content, embedding: base64Of(vector) })),
  })),
);
const ask = (json: object) => api.post(`/projects/${project.slug}/retrieve`, json, owner);

const byVector = { vector: base64Of(centre), dimension: DIMENSION, mode: "semantic", threshold: 0 };
const byWords = { query: "heron lake", mode: "keyword" };
const byBoth = { query: "heron lake", vector: base64Of(centre), dimension: DIMENSION };
const QUESTIONS = { semantic: byVector, keyword: byWords, hybrid: byBoth };

await until(
  "all chunks are found by vector",
  async () => (await ask({ ...byVector, limit: 100 })).body.data.length === 100,
);
await until(
  "all files are found by words",
  async () => (await ask({ ...byWords, limit: 100 })).body.data.length === FILES,
);

const pagesOf = (question: object) => questionPages(ask, question);

const scoresOf = (items: Json[]): number[] => items.map(({ score }) => score);
const falling = (scores: number[]) => scores.toSorted((a, b) => b - a);
const contentsOf = (group: Json): string[] => group.hits.map(({ chunk }: Json) => chunk.content);

/** The files by their best chunks, with the best chunks of each. */
function expectedGroups(size: number, kept = files) {
  const cosine = ({ vector }: TestChunk) => cosineOf(vector, centre);
  return kept
    .map(({ path, chunks }) => ({
      path,
      best: chunks.toSorted((a, b) => cosine(b) - cosine(a)).slice(0, size),
    }))
    .toSorted((a, b) => cosine(b.best[0] as TestChunk) - cosine(a.best[0] as TestChunk))
    .map(({ path, best }) => ({ path, contents: best.map(({ content }) => content) }));
}

const shownGroups = (groups: Json[]) =>
  groups.map((group) => ({ path: group.file.path, contents: contentsOf(group) }));

describe("group_by", () => {
  test("by vector, all pages are the files by their best chunk, each with its best chunks", async () => {
    for (const [size, limit] of [
      [1, 7],
      [3, 10],
      [10, 100],
    ] as const) {
      const pages = await pagesOf({ ...byVector, group_by: "file", group_size: size, limit });
      for (const { data } of pages.slice(0, -1)) expect(data).toHaveLength(limit);
      const groups = pages.flatMap(({ data }) => data);
      expect(shownGroups(groups)).toEqual(expectedGroups(size));
      expect(scoresOf(groups)).toEqual(falling(scoresOf(groups)));
    }
  });

  test("a group names its file, scores as its best hit, and has three hits by default", async () => {
    const { body } = await ask({ ...byVector, group_by: "file", limit: 2 });
    const [group] = body.data;
    const path = files[0]?.path as string;
    expect(group.file).toEqual({
      id: group.hits[0].chunk.file_id,
      path,
      title: `Title of ${path}`,
    });
    expect(group.hits).toHaveLength(3);
    expect(group.score).toBe(group.hits[0].score);
    expect(scoresOf(group.hits)).toEqual(falling(scoresOf(group.hits)));
    expect(group.hits[0]).toMatchObject({ match_type: "semantic", score: group.score });
  });

  test("in every mode pages hold each file once, and no score rises", async () => {
    for (const [mode, question] of Object.entries(QUESTIONS)) {
      const pages = await pagesOf({ ...question, group_by: "file", limit: 4 });
      const groups = pages.flatMap(({ data }) => data);
      expect(groups.map(({ file }) => file.path).toSorted(), mode).toEqual(
        files.map(({ path }) => path),
      );
      expect(scoresOf(groups), mode).toEqual(falling(scoresOf(groups)));
      for (const group of groups) {
        const own = files.find(({ path }) => path === group.file.path);
        expect(group.score, mode).toBe(group.hits[0].score);
        expect(scoresOf(group.hits), mode).toEqual(falling(scoresOf(group.hits)));
        const contents = own?.chunks.map(({ content }) => content) ?? [];
        expect(contents, mode).toEqual(expect.arrayContaining(contentsOf(group)));
        expect(new Set(contentsOf(group)).size, mode).toBe(group.hits.length);
      }
      // What was counted on the first page is what there is.
      expect(pages[0]?.["total_matches"], mode).toBeLessThanOrEqual(FILES);
    }
  });

  test("by words the hits of a group have words of the query, the best passage first, with highlights", async () => {
    const { body, headers } = await ask({
      ...byWords,
      group_by: "file",
      group_size: 10,
      limit: 30,
    });
    expect([body.total_matches, headers.get("x-total-matches")]).toEqual([FILES, "exact"]);
    for (const group of body.data) {
      const own = files.find(({ path }) => path === group.file.path)?.chunks ?? [];
      const found = own.filter(({ content }) => content.includes("heron"));
      expect(group.hits).toHaveLength(Math.min(10, found.length));
      expect(contentsOf(group)[0]).toContain("heron at the lake");
      for (const { highlight, match_type, scores } of group.hits) {
        expect(highlight.matches.length).toBeGreaterThan(0);
        expect([match_type, scores.semantic]).toEqual(["keyword", null]);
      }
    }
  });

  test("a filter holds for files and for their hits", async () => {
    const kept = files.filter(({ lang }) => lang === "de");
    const question = { ...byVector, group_by: "file", filter: { "frontmatter.lang": "de" } };
    const groups = (await pagesOf({ ...question, limit: 6 })).flatMap(({ data }) => data);
    expect(shownGroups(groups)).toEqual(expectedGroups(3, kept));
  });

  test("a threshold leaves out chunks, and files without any other", async () => {
    const passing = (chunks: readonly TestChunk[]) =>
      chunks.filter(({ vector }) => cosineOf(vector, centre) >= 0.6);
    const kept = files
      .map((file) => ({ ...file, chunks: passing(file.chunks) }))
      .filter(({ chunks }) => chunks.length > 0);
    const question = { ...byVector, threshold: 0.6, group_by: "file", limit: 100 };
    const { body, headers } = await ask(question);
    expect(shownGroups(body.data)).toEqual(expectedGroups(3, kept));
    expect([body.total_matches, headers.get("x-total-matches")]).toEqual([kept.length, "exact"]);
  });

  test("a file without chunks is a group of one hit without a chunk", async () => {
    const plain = await api.project(owner);
    await addEnvironment(api.sql, plain);
    const record = { record: "file", path: "a.md", environments: ["production"] };
    await importsOf(api, owner).report(plain, [{ ...record, content: "# Egret\n\nAn egret." }]);
    const find = () =>
      api.post(`/projects/${plain.slug}/retrieve`, { query: "egret", group_by: "file" }, owner);
    await until(
      "the file without chunks is found",
      async () => (await find()).body.data.length === 1,
    );
    const [group] = (await find()).body.data;
    expect(group).toMatchObject({
      file: { path: "a.md", title: "Egret" },
      hits: [{ chunk: null }],
    });
    expect(group.file.id).toBe(group.hits[0].file.id);
    expect(group.hits).toHaveLength(1);
  });

  test("a size of groups without groups is refused by name", async () => {
    const { status, body } = await ask({ ...byWords, group_size: 2 });
    expect([status, body.errors[0].field]).toEqual([400, "group_by"]);
  });
});

const similarities = new Map<Float32Array, Map<Float32Array, number>>();
/** The cosine of two vectors, which is computed once for both orders of them. */
function similarity(a: Float32Array, b: Float32Array): number {
  const known = similarities.get(a)?.get(b) ?? similarities.get(b)?.get(a);
  if (known !== undefined) return known;
  const cosine = cosineOf(a, b);
  similarities.set(a, (similarities.get(a) ?? new Map()).set(b, cosine));
  return cosine;
}

/** The order of chunks by maximal marginal relevance. */
function diverse(chunks: readonly TestChunk[], diversity: number): string[] {
  const chosen: TestChunk[] = [];
  const cosine = ({ vector }: TestChunk) => similarity(vector, centre);
  // Equal values stay in the order of their scores.
  const open = new Set(chunks.toSorted((a, b) => cosine(b) - cosine(a)));
  const value = (chunk: TestChunk) => {
    const nearest = Math.max(...chosen.map((each) => similarity(each.vector, chunk.vector)));
    const repeated = chosen.length === 0 ? 0 : nearest;
    return (1 - diversity) * cosine(chunk) - diversity * repeated;
  };
  while (open.size > 0) {
    const [best] = [...open].toSorted((a, b) => value(b) - value(a)) as [TestChunk];
    chosen.push(best);
    open.delete(best);
  }
  return chosen.map(({ content }) => content);
}

describe("diversity", () => {
  const filter = { path: { $in: files.slice(0, 4).map(({ path }) => path) } };
  const chunks = files.slice(0, 4).flatMap((file) => file.chunks);

  test("orders all pages by maximal marginal relevance, and no score rises", async () => {
    for (const diversity of [0.3, 0.8, 1]) {
      const pages = await pagesOf({ ...byVector, filter, diversity, limit: 7 });
      const hits = pages.flatMap(({ data }) => data);
      const found = hits.map(({ chunk }) => chunk.content);
      expect(found).toEqual(diverse(chunks, diversity));
      expect(scoresOf(hits)).toEqual(falling(scoresOf(hits)));
      for (const { score, scores } of hits) expect(score).toBeLessThanOrEqual(scores.semantic);
    }
  });

  test("0 is the order by score", async () => {
    const [plain, zero] = [await ask(byBoth), await ask({ ...byBoth, diversity: 0 })];
    expect(zero.body.data).toEqual(plain.body.data);
  });

  test("holds in every mode for groups and hits, of which none is lost", async () => {
    for (const [mode, question] of Object.entries(QUESTIONS)) {
      const keys = async (json: object, keyOf: (item: Json) => string) =>
        (await pagesOf({ ...question, ...json, limit: 9 }))
          .flatMap(({ data }) => data)
          .map(keyOf)
          .toSorted();
      const chunkId = ({ chunk }: Json) => chunk.id;
      const groupPath = ({ file }: Json) => file.path;
      const grouped = { group_by: "file", diversity: 0.5 };
      expect(await keys(grouped, groupPath), mode).toEqual(files.map(({ path }) => path));
      const all = await keys({}, chunkId);
      expect(await keys({ diversity: 0.5 }, chunkId), mode).toEqual(all);
    }
  });
});

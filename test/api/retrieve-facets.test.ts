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

const api = await sharedApi();
const { owner, project } = await api.ownedProject();
await addEnvironment(api.sql, project);

const centre = randomVector(DIMENSION, 1);
const TAGS = ["river", "lake", "sea", "pond"];

/** Files with one to three tags, a year, and parts. Every third one is about a badger. */
const files = Array.from({ length: 40 }, (_, f) => ({
  path: `setts/${f}.md`,
  tags: TAGS.slice(f % 3, (f % 3) + 1 + (f % 2)),
  year: 2000 + (f % 4),
  text: f % 3 === 0 ? `A badger digs, number ${f}.` : `An owl sits, number ${f}.`,
  vector: nearVector(centre, 0.2 + f / 10, f + 2),
}));
type TestFile = (typeof files)[number];

const recordOf = ({ path, tags, year, text, vector }: TestFile) => ({
  record: "file",
  path,
  environments: ["production"],
  content: `---\ntags: [${tags.join(", ")}]\nyear: ${year}\n---\n${text}`,
  chunks: [
    { content: text, embedding: base64Of(vector), metadata: { even: year % 2 === 0 } },
    { content: "The rest.", metadata: { even: false } },
  ],
});
await importsOf(api, owner).report(project, files.map(recordOf));

const ask = (json: object) => api.post(`/projects/${project.slug}/retrieve`, json, owner);
const byWords = { query: "badger", mode: "keyword" };
const byVector = { vector: base64Of(centre), dimension: DIMENSION, threshold: 0 };
await until(
  "all chunks are found by vector",
  async () => (await ask({ ...byVector, limit: 100 })).body.data.length === 40,
);
await until(
  "all files are found by words",
  async () => (await ask({ ...byWords, limit: 100 })).body.data.length === 14,
);

/** What is to be counted: the most frequent values first, equal ones in order. */
function counted(matching: readonly TestFile[], valuesOf: (file: TestFile) => readonly unknown[]) {
  const counts = new Map<unknown, number>();
  for (const value of matching.flatMap(valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const before = (a: unknown, b: unknown) => ((a as string) < (b as string) ? -1 : 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || before(a.value, b.value));
}

const facets = ["frontmatter.tags", "frontmatter.year", "metadata.even"];
/** @param evens the values of chunks of files of an even year */
const expected = (matching: readonly TestFile[], evens = [true, false]) => {
  const facet = (valuesOf: (file: TestFile) => readonly unknown[]) => {
    const values = counted(matching, valuesOf);
    return { values, total: values.length, exact: true };
  };
  return {
    "frontmatter.tags": facet(({ tags }) => tags),
    "frontmatter.year": facet(({ year }) => [year]),
    "metadata.even": facet(({ year }) => (year % 2 === 0 ? evens : [false])),
  };
};

const badgers = files.filter(({ text }) => text.includes("badger"));

describe("facets", () => {
  test("by keyword they count all files that match, whatever the page shows", async () => {
    for (const limit of [1, 100]) {
      const { body } = await ask({ ...byWords, facets, limit });
      expect(body.facets).toEqual(expected(badgers));
      expect(Object.keys(body.facets)).toEqual(facets);
    }
  });

  test("by vector they count the files with a chunk that reaches the threshold", async () => {
    const near = files.filter(({ vector }) => cosineOf(vector, centre) >= 0.5);
    const { body } = await ask({ ...byVector, threshold: 0.5, facets, limit: 1 });
    expect(near.length).toBeWithin(2, 40);
    expect(body.facets).toEqual(expected(near));
  });

  test("by both they count the files of all pages", async () => {
    const question = { ...byVector, query: "badger", threshold: 0.5, limit: 3 };
    const pages = await questionPages(ask, question);
    const found = pages.flatMap(({ data }) => data);
    const paths = new Set(found.map(({ chunk }: Json) => chunk.file_path));
    const { body } = await ask({ ...question, facets });
    expect(body.facets).toEqual(expected(files.filter(({ path }) => paths.has(path))));
  });

  test("a filter holds, also one of chunks", async () => {
    const year = { "frontmatter.year": { $gte: 2002 } };
    const late = badgers.filter((file) => file.year >= 2002);
    expect((await ask({ ...byWords, facets, filter: year })).body.facets).toEqual(expected(late));
    const even = badgers.filter((file) => file.year % 2 === 0);
    const filter = { "metadata.even": true };
    const { body } = await ask({ ...byWords, facets, filter });
    expect(body.facets).toEqual(expected(even, [true]));
  });

  test("every page of a cursor has them, beside groups and diversity", async () => {
    const question = { ...byWords, facets, limit: 5, group_by: "file", diversity: 0.1 };
    const first = (await ask(question)).body;
    const next = (await ask({ cursor: first.page_info.next, facets })).body;
    expect(first.facets).toEqual(expected(badgers));
    expect(next.facets).toEqual(first.facets);
  });

  test("what is like a file counts without that file", async () => {
    const [source] = files as [TestFile];
    const { body } = await ask({ like: { path: source.path }, threshold: -0, facets });
    const others = files.filter((file) => file !== source);
    const near = others.filter(({ vector }) => cosineOf(vector, source.vector) >= 0);
    expect(body.facets).toEqual(expected(near));
  });

  test("a field has at most 100 values and says how many there are; one that no file has is empty", async () => {
    const many = await api.project(owner);
    await addEnvironment(api.sql, many);
    const record = { record: "file", environments: ["production"], content: "A stoat." };
    const paths = Array.from({ length: 130 }, (_, i) => `${String(i).padStart(3, "0")}.md`);
    await importsOf(api, owner).report(
      many,
      paths.map((path) => ({ ...record, path })),
    );
    const find = (json: object) => api.post(`/projects/${many.slug}/retrieve`, json, owner);
    const question = { query: "stoat", limit: 1, facets: ["path", "frontmatter.none"] };
    await until(
      "all files are found",
      async () => (await find(question)).body.total_matches === 130,
    );
    const { body } = await find(question);
    expect(body.facets["path"]).toEqual({
      values: paths.slice(0, 100).map((value) => ({ value, count: 1 })),
      total: 130,
      exact: true,
    });
    expect(body.facets["frontmatter.none"]).toEqual({ values: [], total: 0, exact: true });
    const none = await find({ ...question, query: "marten" });
    expect(none.body.facets["path"]).toEqual({ values: [], total: 0, exact: true });
  });

  test("a release counts the versions that it holds", async () => {
    const own = await api.project(owner);
    await addEnvironment(api.sql, own);
    const at = `/projects/${own.slug}`;
    const put = (tag: string) =>
      api.putText(owner, own, "a.md", `---\ntag: ${tag}\n---\nA weasel.`);
    await put("old");
    const release = { name: "v1", environment: "production" };
    expect((await api.post(`${at}/releases`, release, owner)).status).toBe(201);
    await put("new");
    const tags = async (target: object) => {
      const json = { query: "weasel", target, facets: ["frontmatter.tag"] };
      const { body } = await api.post(`${at}/retrieve`, json, owner);
      return body.facets?.["frontmatter.tag"].values.map(({ value }: Json) => value);
    };
    await until(
      "the new tag is counted",
      async () => (await tags({ environment: "production" }))?.[0] === "new",
    );
    expect(await tags({ release: "v1" })).toEqual(["old"]);
  });

  test("an answer has none unless they are asked for, and an empty list has no fields", async () => {
    expect((await ask(byWords)).body).not.toHaveProperty("facets");
    expect((await ask({ ...byWords, facets: [] })).body.facets).toEqual({});
  });

  test("invalid facets are named", async () => {
    for (const [given, field] of [
      ["path", "facets"],
      [Array.from({ length: 9 }, (_, i) => `frontmatter.f${i}`), "facets"],
      [["path", "title"], "facets[1]"],
      [["frontmatter"], "facets[0]"],
      [["metadata."], "facets[0]"],
      [[1], "facets[0]"],
      [[`frontmatter.${"a".repeat(2_000)}`], "facets[0]"],
    ] as const) {
      const { status, body } = await ask({ ...byWords, facets: given });
      expect([status, body.errors?.[0]?.field], JSON.stringify(given)).toEqual([400, field]);
    }
  });
});

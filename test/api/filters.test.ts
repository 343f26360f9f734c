import { describe, expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { cosineOf, nearVector, randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { listPages } from "./paging.ts";

const DIMENSION = 768;
const FILES = 500;
const CHUNKS_PER_FILE = 2;
/** A change is visible within a second; on a busy machine a test waits for longer. */

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { post } = importsOf(api, member);
const centre = randomVector(DIMENSION, 1);

interface TestFile {
  readonly path: string;
  readonly topic: string;
  readonly number: number;
  readonly vectors: Float32Array<ArrayBuffer>[];
}

/** Files of a rare topic are far from the centre, so the filter is against the vectors. */
const files: TestFile[] = Array.from({ length: FILES }, (_, number) => {
  const topic = number % 2 === 0 ? "even" : "odd";
  const noise = 0.2 + (2 * number) / FILES;
  const vectors = Array.from({ length: CHUNKS_PER_FILE }, (__, i) =>
    nearVector(centre, noise, number * CHUNKS_PER_FILE + i + 2),
  );
  return { path: `docs/${topic}/${String(number).padStart(4, "0")}.md`, topic, number, vectors };
});

const recordOf = ({ path, topic, number, vectors }: TestFile, place: object) => ({
  record: "file",
  path,
  content: `---\ntopic: ${topic}\nnumber: ${number}\ntags: [all, ${topic}]\nversion: 1.10\n---\n# File ${number}\n\nSome text.`,
  chunks: vectors.map((vector, index) => ({
    index,
    content: `Chunk ${index} of file ${number}`,
    embedding: base64Of(vector),
    metadata: { part: index, of: { file: number } },
  })),
  ...place,
});

await post(project, [
  PRODUCTION,
  ...files.map((each) => recordOf(each, { environments: ["production"], releases: ["v1"] })),
  { record: "file", path: "notes/plain.txt", content: "no chunks", environments: ["production"] },
]);

const at = `/projects/${project.slug}`;
const places = {
  environment: `${at}/environments/production/search`,
  release: `${at}/releases/v1/search`,
};
const vector = base64Of(centre);
const search = (
  filter: unknown,
  more: object = {},
  path = places.environment,
  as: Caller = member,
) =>
  api.post(path, { vector, dimension: DIMENSION, limit: 100, threshold: 0, filter, ...more }, as);
const lookUp = (body: object, as: Caller = member) => api.post(`${at}/knowledge/lookup`, body, as);
const listOf = (filter: unknown) =>
  `${at}/files?filter=${encodeURIComponent(JSON.stringify(filter))}`;
const list = (filter: unknown) => api.get(listOf(filter), member);

/** What an exhaustive comparison finds among the files that pass. */
function truth(passes: (file: TestFile, part: number) => boolean) {
  return files
    .flatMap((file) =>
      file.vectors.flatMap((each, part) =>
        passes(file, part) ? [{ key: `${file.path} ${part}`, score: cosineOf(each, centre) }] : [],
      ),
    )
    .sort((a, b) => b.score - a.score);
}

const keysOf = (body: Json): string[] =>
  body.data.map(({ chunk }: Json) => `${chunk.file_path} ${chunk.index}`);
const pathsOf = (body: Json): string[] => body.data.map((each: Json) => each.path);

/** Repeats a request until its answer is as wanted. */
const untilSeen = <T>(wanted: T, read: () => Promise<T>) =>
  until(`the answer is ${Bun.inspect(wanted)}`, async () => Bun.deepEquals(await read(), wanted));

await untilSeen(FILES, async () => (await lookUp({ limit: 1 })).body.total_matches);

/** Filters that match 50, 10, 1 and 0.1% of the chunks, and those that they match. */
const selectivities: [
  percent: number,
  filter: Json,
  passes: (f: TestFile, part: number) => boolean,
][] = [
  [50, { "frontmatter.topic": "odd" }, ({ topic }) => topic === "odd"],
  [50, { "metadata.part": 1 }, (_, part) => part === 1],
  [10, { "frontmatter.number": { $gte: 450 } }, ({ number }) => number >= 450],
  [
    1,
    { path: { $glob: "**/010?.md" }, "frontmatter.topic": { $ne: "odd" } },
    ({ path, topic }) => /\/010.\.md$/.test(path) && topic === "even",
  ],
  [
    0.1,
    { "metadata.of.file": 499, "metadata.part": { $not: { $in: [0] } } },
    ({ number }, part) => number === 499 && part === 1,
  ],
];

describe("a search by vector with a filter", () => {
  for (const [percent, filter, passes] of selectivities) {
    test(`finds the best of the ${percent}% that match ${JSON.stringify(filter)}, and is never short`, async () => {
      const expected = truth(passes);
      for (const path of Object.values(places)) {
        const { status, body, headers } = await search(filter, { limit: 10 }, path);
        expect(status).toBe(200);
        expect(keysOf(body)).toEqual(expected.slice(0, 10).map(({ key }) => key));
        for (const [i, { score }] of body.data.entries()) {
          expect(score).toBeCloseTo(expected[i]?.score as number, 5);
        }
        expect(headers.get("x-ignored-fields")).toBeNull();
      }
    });
  }

  test("counts the matches within the filter", async () => {
    const { body, headers } = await search(
      { "frontmatter.topic": "odd" },
      {},
      `${places.environment}?count=exact`,
    );
    expect(headers.get("x-total-matches")).toBe("exact");
    expect(body.total_matches).toBe(truth(({ topic }) => topic === "odd").length);
  });

  test("takes the filter of a binary body from the query", async () => {
    const filter = encodeURIComponent(JSON.stringify({ "frontmatter.number": 7 }));
    const query = `dimension=${DIMENSION}&limit=5&threshold=0&filter=${filter}`;
    const body = new Uint8Array(centre.slice().buffer);
    const headers = { "content-type": "application/octet-stream" };
    const answer = await api.send("POST", `${places.environment}?${query}`, {
      as: member,
      body,
      headers,
    });
    expect(keysOf(answer.body).sort()).toEqual(["docs/odd/0007.md 0", "docs/odd/0007.md 1"]);
    const wrong = await api.send(
      "POST",
      `${places.environment}?dimension=${DIMENSION}&filter=%7B`,
      { as: member, body, headers },
    );
    expect(wrong.body.errors).toEqual([{ field: "filter", message: "is not valid JSON" }]);
  });

  test("names the fault of a filter beside those of other fields", async () => {
    const { status, body } = await search({ $and: [{}, { path: { $like: "a" } }] }, { limit: 0 });
    expect(status).toBe(400);
    expect(body.errors.map(({ field }: Json) => field)).toEqual([
      "limit",
      "filter.$and[1].path.$like",
    ]);
  });
});

describe("a lookup with a filter", () => {
  test("finds and counts within the filter only", async () => {
    const filter = { "frontmatter.topic": "odd", "frontmatter.number": { $lt: 20 } };
    for (const query of [undefined, "file"]) {
      const { status, body } = await lookUp({ filter, ...(query && { query }) });
      expect(status).toBe(200);
      expect(pathsOf(body).sort()).toEqual(
        files.filter(({ number }) => number < 20 && number % 2 === 1).map(({ path }) => path),
      );
      expect([body.total_matches, body.shard.total_items]).toEqual([10, 10]);
    }
  });

  test("matches a file if one of its chunks does", async () => {
    const { body } = await lookUp({ filter: { "metadata.of.file": 33, "metadata.part": 0 } });
    expect(pathsOf(body)).toEqual(["docs/odd/0033.md"]);
    const none = await lookUp({ filter: { "metadata.part": { $exists: false } } });
    expect(none.body.data).toEqual([]);
  });

  test("sees the types of frontmatter", async () => {
    const count = async (filter: unknown) => (await lookUp({ filter })).body.total_matches;
    expect(await count({ "frontmatter.number": 7 })).toBe(1);
    expect(await count({ "frontmatter.number": "7" })).toBe(0);
    expect(await count({ "frontmatter.version": 1.1 })).toBe(FILES);
    expect(await count({ "frontmatter.tags": "even" })).toBe(FILES / 2);
  });
});

describe("a list of files with a filter", () => {
  test("has the files that match, page by page", async () => {
    const filter = { "frontmatter.number": { $lt: 130 }, path: { $prefix: "docs/odd/" } };
    const wanted = files
      .filter(({ number }) => number < 130 && number % 2 === 1)
      .map(({ path }) => path);
    const pages = await listPages(api, `${listOf(filter)}&limit=30`, member);
    expect(pages.map(pathsOf)).toEqual([0, 30, 60].map((from) => wanted.slice(from, from + 30)));
    const back = await api.get(pages[1].page_info.prev, member);
    expect(pathsOf(back.body)).toEqual(wanted.slice(0, 30));
  });

  test("has files without chunks, which have no metadata", async () => {
    const { body } = await list({ "metadata.part": { $exists: false } });
    expect(pathsOf(body)).toEqual(["notes/plain.txt"]);
  });
});

test("a filter that is not valid is a 400 that names the place, in all operations", async () => {
  const filter = { path: { $glob: 1 } };
  for (const answer of [await search(filter), await lookUp({ filter }), await list(filter)]) {
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].field).toBe("filter.path.$glob");
  }
});

test("a change of frontmatter is visible to all operations", async () => {
  const filter = { "frontmatter.topic": "changed" };
  expect((await lookUp({ filter })).body.data).toEqual([]);
  const [file] = files as [TestFile];
  const change = async (topic: string) => {
    await post(project, [recordOf({ ...file, topic }, { environments: ["production"] })]);
  };
  for (const [topic, paths] of [
    ["changed", [file.path]],
    ["even", []],
  ] as const) {
    await change(topic);
    expect(pathsOf((await list(filter)).body)).toEqual([...paths]);
    await untilSeen([...paths], async () => pathsOf((await lookUp({ filter })).body));
    const found = async () =>
      new Set((await search(filter)).body.data.map(({ chunk }: Json) => chunk.file_path));
    await untilSeen(new Set(paths), found);
  }
});

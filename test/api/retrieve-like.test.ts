import { describe, expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { cosineOf, nearVector, randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { questionPages } from "./paging.ts";

const DIMENSION = 768;

const api = await sharedApi();
const owner = await api.user();

const centre = randomVector(DIMENSION, 1);
const FILES = Array.from({ length: 12 }, (_, f) => ({
  path: `notes/${f}.md`,
  parity: f % 2,
  chunks: Array.from({ length: 1 + (f % 3) }, (_, c) => ({
    content: `Otter ${f} swims, part ${c}.`,
    vector: nearVector(centre, 0.3 + f / 6, f * 10 + c + 2),
  })),
}));
type TestFile = (typeof FILES)[number];
type TestChunk = TestFile["chunks"][number];

async function projectOf(files: readonly TestFile[], embedder?: string): Promise<TestProject> {
  const project = await api.project(owner);
  await addEnvironment(api.sql, project);
  if (embedder !== undefined) {
    await api.send("PATCH", `/projects/${project.slug}`, { as: owner, json: { embedder } });
  }
  const records = files.map(({ path, parity, chunks }) => ({
    record: "file",
    path,
    environments: ["production"],
    content: `---\nparity: ${parity}\n---\n${chunks.map(({ content }) => content).join("\n\n")}`,
    ...(embedder === undefined
      ? {
          chunks: chunks.map(({ content, vector }) => ({ content, embedding: base64Of(vector) })),
        }
      : {}),
  }));
  await importsOf(api, owner).report(project, records);
  return project;
}

const project = await projectOf(FILES);
const ask = (json: object, of = project) => api.post(`/projects/${of.slug}/retrieve`, json, owner);
const everything = { vector: base64Of(centre), dimension: DIMENSION, threshold: 0 };
const TOTAL = FILES.flatMap(({ chunks }) => chunks).length;
await until(
  "all chunks are found by vector",
  async () => (await ask({ ...everything, limit: 100 })).body.data.length === TOTAL,
);
await until("all files are found by words", async () => {
  const { body } = await ask({ query: "otter", mode: "keyword", limit: 100 });
  return body.data.length === FILES.length;
});

const idOf = new Map<string, string>(
  (await ask({ ...everything, limit: 100 })).body.data.map(({ chunk }: Json) => [
    chunk.content,
    chunk.id,
  ]),
);
const [first, , third] = FILES as [TestFile, TestFile, TestFile];
const [chunk] = first.chunks as [TestChunk];
const likeChunk = { chunk_id: idOf.get(chunk.content) as string };

const allOf = async (question: object, limit = 5): Promise<Json[]> =>
  (await questionPages(ask, { ...question, limit })).flatMap(({ data }) => data);

const unit = (vector: Float32Array) => {
  const length = Math.sqrt(vector.reduce((sum, each) => sum + each ** 2, 0));
  return vector.map((each) => each / length);
};
const sumOf = (...vectors: Float32Array[]) =>
  centre.map((_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0));

/** Chunks by their cosine with a vector, without those of the sources. */
function expected(vector: Float32Array, left: readonly TestChunk[], files = FILES) {
  const others = files.flatMap(({ chunks }) => chunks).filter((each) => !left.includes(each));
  const cosine = (each: TestChunk) => cosineOf(each.vector, vector);
  return others.toSorted((a, b) => cosine(b) - cosine(a)).map(({ content }) => content);
}
const contents = (hits: Json[]) => hits.map(({ chunk: { content } }) => content);

describe("like and unlike", () => {
  test("like a chunk alone is a search by its embedding, without the chunk", async () => {
    const { body, headers } = await ask({ like: likeChunk, limit: 100 });
    expect(headers.get("x-retrieval")).toBe("semantic");
    expect(contents(body.data)).toEqual(expected(chunk.vector, [chunk]));
    for (const { chunk: found, score } of body.data) {
      const own = FILES.flatMap((file) => file.chunks).find(
        (each) => each.content === found.content,
      );
      expect(score).toBeCloseTo(cosineOf((own as TestChunk).vector, chunk.vector), 6);
    }
    expect([body.total_matches, headers.get("x-total-matches")]).toEqual([TOTAL - 1, "exact"]);
    expect(contents(await allOf({ like: likeChunk }))).toEqual(contents(body.data));
  });

  test("like a file is a search by the mean of its chunks, without all of them", async () => {
    const mean = sumOf(...third.chunks.map(({ vector }) => unit(vector)));
    const hits = await allOf({ like: { path: third.path } });
    expect(contents(hits)).toEqual(expected(mean, third.chunks));
  });

  test("unlike pushes away, and is left out as well", async () => {
    const unlike = { path: third.path };
    const away = unit(sumOf(...third.chunks.map(({ vector }) => unit(vector))));
    const vector = sumOf(
      unit(chunk.vector),
      away.map((each) => -each / 2),
    );
    const hits = await allOf({ like: likeChunk, unlike, threshold: 0 });
    const reachable = expected(vector, [chunk, ...third.chunks]);
    expect(contents(hits)).toEqual(reachable.slice(0, hits.length));
    const pushed = await ask({ like: likeChunk, unlike: likeChunk, threshold: 0, limit: 100 });
    expect(contents(pushed.body.data)).toEqual(expected(chunk.vector, [chunk]));
  });

  test("beside a vector, both count", async () => {
    const other = randomVector(DIMENSION, 99);
    const given = { ...everything, vector: base64Of(other), like: likeChunk };
    const hits = await allOf({ ...given, threshold: -0 });
    const order = expected(sumOf(unit(other), unit(chunk.vector)), [chunk]);
    expect(contents(hits)).toEqual(order.slice(0, hits.length));
  });

  test("beside words in a project without an embedder, words find by the query and vectors by like", async () => {
    const question = { query: "otter 5", like: { path: third.path }, limit: 100 };
    const { body, headers } = await ask(question);
    expect(headers.get("x-retrieval")).toBe("hybrid");
    const paths = body.data.map(({ chunk: { file_path } }: Json) => file_path);
    expect(paths).not.toContain(third.path);
    expect(body.data.some(({ match_type }: Json) => match_type === "hybrid")).toBe(true);
    const { headers: without } = await ask({ query: "otter 5", unlike: { path: third.path } });
    expect(without.get("x-retrieval")).toBe("keyword");
  });

  test("beside a query that is embedded, the source is left out in every mode, and of the words' hits", async () => {
    const embedded = await projectOf(FILES, "hashing");
    const found = () => ask({ query: "otter swims", mode: "semantic", threshold: 0 }, embedded);
    await until("files are found by meaning", async () => (await found()).body.data.length >= 10);
    await until(
      "files are found by words",
      async () => (await ask({ query: "otter", mode: "keyword" }, embedded)).body.data.length >= 10,
    );
    const [best] = (await found()).body.data;
    for (const mode of ["semantic", "hybrid"]) {
      const question = { query: "otter swims", mode, threshold: 0, limit: 100 };
      const all = (await ask(question, embedded)).body.data;
      const by = async (source: object) =>
        (await ask({ ...question, like: source }, embedded)).body.data.map(
          ({ chunk }: Json) => chunk.id,
        );
      const ids = all.map(({ chunk }: Json) => chunk.id);
      const others = ids.filter((id: string) => id !== best.chunk.id).toSorted();
      expect((await by({ chunk_id: best.chunk.id })).toSorted(), mode).toEqual(others);
      const path = best.chunk.file_path;
      const left = all.filter(({ chunk }: Json) => chunk.file_path !== path);
      const rest = left.map(({ chunk }: Json) => chunk.id).toSorted();
      expect((await by({ path })).toSorted(), mode).toEqual(rest);
    }
  });

  test("filters, groups and pages hold beside it", async () => {
    const even = FILES.filter(({ parity }) => parity === 0);
    const filter = { "frontmatter.parity": 0 };
    const hits = await allOf({ like: likeChunk, threshold: 0, filter }, 3);
    expect(contents(hits)).toEqual(expected(chunk.vector, [chunk], even));
    const groups = await allOf({ like: { path: third.path }, threshold: 0, group_by: "file" }, 4);
    const others = FILES.filter(({ path }) => path !== third.path);
    expect(groups.map(({ file }) => file.path).toSorted()).toEqual(
      others.map(({ path }) => path).toSorted(),
    );
  });

  test("a file is that of the environment or the release, and a chunk that of the project", async () => {
    const at = `/projects/${project.slug}`;
    const release = { name: `r-${crypto.randomUUID()}`, environment: "production" };
    expect((await api.post(`${at}/releases`, release, owner)).status).toBe(201);
    await addEnvironment(api.sql, project, "empty");
    const like = { path: third.path };
    const target = { release: release.name };
    await until("the files of the release are found", async () => {
      const { body } = await ask({ like, target, threshold: 0, limit: 100 });
      return body.data.length === TOTAL - third.chunks.length;
    });
    const empty = { environment: "empty" };
    const missing = await ask({ like, target: empty });
    expect([missing.status, missing.body.slug]).toEqual([404, "file-not-found"]);
    const known = await ask({ like: likeChunk, target: empty });
    expect([known.status, known.body.data]).toEqual([200, []]);
  });

  test("unknown sources and those of other projects are not found", async () => {
    const other = await projectOf([first]);
    const question = { ...everything, limit: 1 };
    await until(
      "the chunk of the other project is found",
      async () => (await ask(question, other)).body.data.length === 1,
    );
    const foreign = (await ask(question, other)).body.data[0].chunk.id;
    for (const field of ["like", "unlike"]) {
      for (const [source, slug] of [
        [{ chunk_id: crypto.randomUUID() }, "chunk-not-found"],
        [{ chunk_id: "nonsense" }, "chunk-not-found"],
        [{ chunk_id: foreign }, "chunk-not-found"],
        [{ path: "none.md" }, "file-not-found"],
        [{ path: "" }, "file-not-found"],
      ] as const) {
        const { status, body } = await ask({ ...everything, [field]: source });
        expect([status, body.slug], `${field} ${JSON.stringify(source)}`).toEqual([404, slug]);
      }
    }
  });

  test("invalid sources are named", async () => {
    const [plain, wide] = ["no-vectors.md", "wide.md"];
    const record = { record: "file", environments: ["production"] };
    const own = await api.project(owner);
    await addEnvironment(api.sql, own);
    await importsOf(api, owner).report(own, [
      { ...record, path: plain, content: "Nothing is embedded." },
      {
        ...record,
        path: wide,
        content: "x",
        chunks: [{ content: "x", embedding: base64Of(randomVector(1_024, 3)) }],
      },
    ]);
    const both = { chunk_id: "a", path: "b" };
    for (const [json, field] of [
      [{ like: {} }, "like"],
      [{ like: "x" }, "like"],
      [{ like: both }, "like"],
      [{ like: { path: 1 } }, "like"],
      [{ unlike: { path: wide } }, "query"],
      [{ query: "x", mode: "keyword", like: { path: wide } }, "like"],
      [{ query: "x", mode: "keyword", unlike: { path: wide } }, "unlike"],
      [{ mode: "hybrid", like: { path: wide } }, "query"],
      [{ like: { path: plain } }, "like.path"],
      [{ ...everything, like: { path: wide } }, "like"],
      [{ ...everything, unlike: { path: wide } }, "unlike"],
    ] as const) {
      const { status, body } = await ask(json, own);
      expect([status, body.errors?.[0]?.field], JSON.stringify(json).slice(0, 80)).toEqual([
        400,
        field,
      ]);
    }
  });

  test("a source whose embedding is not there yet is told to come back, as a file and as a chunk", async () => {
    const own = await projectOf([first], "hashing");
    const rows = () => api.sql<{ id: string; version: string; isEmbedded: boolean }[]>`
      SELECT id, file_version_id AS version, embedding IS NOT NULL AS "isEmbedded" FROM chunks
      WHERE project_id = ${own.id}`;
    await until("the file is embedded", async () => (await rows())[0]?.isEmbedded === true);
    const [{ id, version } = { id: "", version: "" }] = await rows();
    // As it is before its embedder has answered. No server has this one, so nobody embeds the file again.
    await api.sql`
      UPDATE chunks SET embedding = NULL, dimension = NULL, embedder = 'of nobody'
      WHERE project_id = ${own.id}`;
    await api.sql`UPDATE projects SET embedder = 'of nobody' WHERE id = ${own.id}`;
    await api.sql`
      INSERT INTO embedding_queue (file_version_id, project_id) VALUES (${version}, ${own.id})
      ON CONFLICT DO NOTHING`;
    for (const source of [{ path: first.path }, { chunk_id: id }]) {
      const { status, headers, body } = await ask({ like: source }, own);
      expect([status, body.slug]).toEqual([503, "index-behind"]);
      expect(headers.get("retry-after")).not.toBeNull();
    }
  });
});

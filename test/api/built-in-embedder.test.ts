import { describe, expect, test } from "bun:test";
import { passageOf } from "../../src/content/import/records/passage.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { hashingEmbedder } from "../../src/embed/embedders/embedder.ts";
import { BUILT_IN_FINGERPRINT } from "../../src/embed/embedders/project-embedders.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { openTransaction } from "../../support/open-transaction.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const owner = await api.user();
const { report } = importsOf(api, owner);
const TEXT =
  "---\ntitle: Rivers\n---\n# The Oder\n\nIt *flows*.\n\n# The Spree\n\nIt flows, too.\n";
const GIVEN = base64Of(new Float32Array(768).fill(1));

async function newProject(): Promise<TestProject> {
  const slug = `p-${crypto.randomUUID()}`;
  return (await api.post("/projects", { name: "P", slug, embedder: "hashing" }, owner)).body;
}

const put = (project: TestProject, path: string, body: string) =>
  api.send("PUT", `/projects/${project.slug}/files/${path}`, {
    as: owner,
    body,
    headers: { "content-type": "text/markdown" },
  });

const record = { record: "file", environments: ["production"] };
const WRITES: Readonly<Record<string, (project: TestProject) => Promise<unknown>>> = {
  "a PUT": (project) => put(project, "rivers.md", TEXT),
  "an import of a text": (project) =>
    report(project, [{ ...record, path: "rivers.md", content: TEXT }]),
  "an import of chunks": (project) => {
    const metadata = { headings: ["Rivers", "The Oder"] };
    return report(project, [
      { ...record, path: "rivers.md", chunks: [{ content: "It *flows*.", metadata }] },
    ]);
  },
};

interface ChunkRow {
  readonly path: string;
  readonly title: string;
  readonly content: string;
  readonly metadata: string;
  readonly embedder: string | null;
  readonly embedding: string | null;
}

const chunksOf = ({ id }: TestProject) => api.sql<ChunkRow[]>`
  SELECT c.file_path AS path, v.title, c.content, c.metadata::text AS metadata, c.embedder,
    replace(encode(c.embedding, 'base64'), chr(10), '') AS embedding
  FROM chunks c JOIN file_versions v ON v.id = c.file_version_id
  WHERE c.project_id = ${id} ORDER BY c.index`;

const waiting = async ({ slug }: TestProject) =>
  (await api.get(`/projects/${slug}/index-state`, owner)).body.embeddings_waiting;

/** Versions whose chunks have got embeddings after they were stored. */
async function embeddedLater({ id }: TestProject): Promise<number> {
  const [row] = await api.sql<{ versions: number }[]>`
    SELECT count(DISTINCT ref)::integer AS versions FROM change_log
    WHERE project_id = ${id} AND kind = 'embedded'`;
  return row?.versions ?? 0;
}

async function expectOwnVectors(project: TestProject): Promise<void> {
  const chunks = await chunksOf(project);
  const vectors = await hashingEmbedder().embedPassages(chunks.map(passageOf));
  expect(chunks.length).toBeGreaterThan(0);
  expect(chunks.map(({ embedder, embedding }) => ({ embedder, embedding }))).toEqual(
    vectors.map((vector) => ({
      embedder: BUILT_IN_FINGERPRINT,
      embedding: base64Of(vector as Float32Array),
    })),
  );
}

describe("feature hashing", () => {
  test.each(Object.keys(WRITES))("embeds the chunks of %s with their texts", async (name) => {
    const project = await newProject();
    await WRITES[name]?.(project);
    expect(await waiting(project)).toBe(0);
    await expectOwnVectors(project);
    expect(await embeddedLater(project)).toBe(0);
  });

  test.each([
    ["chunks", "# A river\n\nIt flows.\n".repeat(33)],
    ["text", `${TEXT}${"A long river.\n\n".repeat(9_000)}`],
  ])("embeds a file of more %s later, with the same vectors", async (_, text) => {
    const project = await newProject();
    const answer = await put(project, "rivers.md", text);
    expect(answer.body.chunk_count).toBeGreaterThan(32);
    await until("all is embedded", async () => (await waiting(project)) === 0);
    await expectOwnVectors(project);
    expect(await embeddedLater(project)).toBe(1);
  });

  test("leaves vectors that are given as they are", async () => {
    const project = await newProject();
    const chunks = [{ content: "Given.", embedding: GIVEN }, { content: "Not given." }];
    await report(project, [{ ...record, path: "a.md", chunks }]);
    const [given, own] = await chunksOf(project);
    expect(given?.embedding).toBe(GIVEN);
    expect([own?.embedding === null, own?.embedding === GIVEN]).toEqual([false, false]);
  });

  test("stays the embedder of a project until a file that it embeds is stored", async () => {
    const project = await newProject();
    const other = { embedder: null };
    const change = await openTransaction(api.sql, async (tx) => {
      await tx`UPDATE projects SET embedder = NULL WHERE id = ${project.id}`;
    });
    const written = put(project, "rivers.md", TEXT);
    await change.awaitedBy(1);
    await change.commit();
    expect((await written).status).toBe(201);
    expect(await chunksOf(project)).toMatchObject([other, other]);
  });
});

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { versionKeyPrefix } from "../../src/content/import/files/documents.ts";
import { importMarkdown } from "../../src/content/import/import-markdown.ts";
import { fileVersion } from "../../src/content/import/records/file-record.ts";
import { textKey } from "../../src/content/import/records/text-key.ts";
import { derivedId } from "../../src/domain/uuid.ts";
import { hashingEmbedder } from "../../src/embed/embedders/embedder.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { allChanged, allUnchanged, file, importsOf } from "../../support/api/imports.ts";
import { temporaryFolder } from "../../support/folders.ts";

const api = await sharedApi();
const { sql } = api;
const editor = await api.user();
const { report } = importsOf(api, editor);

const PATH = "guide.md";
const OTHERS = [{ content: "# Forged", metadata: { headings: ["Forged"] } }];
let texts = 0;
/** A text of two chunks that no other test has. */
const someText = () => `# Guide ${++texts}\n\nTrue.\n\n## More\n\nAlso true.\n`;

async function projectOf(): Promise<TestProject> {
  const project = await api.project(editor);
  await addEnvironment(sql, project);
  return project;
}

const contentsOf = async (project: TestProject): Promise<object[]> =>
  await sql<object[]>`
    SELECT v.content, ARRAY (SELECT c.content FROM chunks c WHERE c.file_version_id = v.id
      ORDER BY c.index) AS chunks
    FROM environment_files w JOIN file_versions v ON v.id = w.file_version_id
    WHERE w.project_id = ${project.id}`;

const whole = (text: string) => {
  const second = text.indexOf("##");
  return [{ content: text, chunks: [text.slice(0, second).trim(), text.slice(second).trim()] }];
};

const put = (project: TestProject, body: string) => api.putText(editor, project, PATH, body);

/** The records by which a client might want a later write of a text to find other contents. */
function forgeries(project: TestProject, text: string, key: string, fingerprint: string): object[] {
  const id = derivedId(
    "file_version",
    derivedId("file", project.id, PATH),
    `${key}\n${fingerprint}`,
  );
  return [
    { version_key: key, content: "# Forged", chunks: OTHERS },
    { version_key: key, content: text, chunks: OTHERS },
    { version_key: key, content: text, chunks: OTHERS, version_id: id },
    { version_key: key, version_id: id },
  ].map((forged) => file(PATH, { content: undefined, chunks: undefined, ...forged }));
}

describe("the contents that somebody stored under a key which the service derives", () => {
  /** Writes a text in each of the ways in which the service derives a key. */
  const WRITERS: Record<
    string,
    (text: string) => {
      readonly key: string;
      readonly fingerprint: string;
      readonly write: (project: TestProject) => Promise<unknown>;
    }
  > = {
    "a PUT of a file": (text) => {
      const key = textKey(text, "markdown");
      const write = async (project: TestProject) => {
        expect((await put(project, text)).status).toBeLessThan(300);
      };
      return { key, fingerprint: key, write };
    },
    "an import of records": (text) => {
      const [{ chunks = [] } = {}] = whole(text);
      const more = { content: text, chunks: chunks.map((content) => ({ content })) };
      const record = { ...file(PATH, more), project: "any" } as Parameters<typeof fileVersion>[0];
      const { versionKey: key, fingerprint } = fileVersion(record);
      return { key, fingerprint, write: (project) => report(project, [file(PATH, more)]) };
    },
    "an import of a folder": (text) => {
      const embedder = hashingEmbedder(768);
      const hash = new Bun.CryptoHasher("sha256").update(versionKeyPrefix(embedder.name));
      const key = `markdown:${hash.update(text).digest("hex")}`;
      const write = async ({ slug }: TestProject) => {
        const folder = temporaryFolder("derived-keys");
        writeFileSync(join(folder, PATH), text);
        const listener = { onFile() {}, onReport() {} };
        const where = { project: slug, environments: ["production"], owner: "" };
        await importMarkdown(
          sql,
          { ...where, folder, files: [{ file: PATH, path: PATH }], embedder },
          listener,
        );
      };
      return { key, fingerprint: key, write };
    },
  };

  test.each(Object.keys(WRITERS))("are never taken for those of %s", async (name) => {
    for (const number of [0, 1, 2, 3]) {
      const project = await projectOf();
      const text = someText();
      const { key, fingerprint, write } = (WRITERS[name] as (typeof WRITERS)[string])(text);
      const forged = forgeries(project, text, key, fingerprint)[number] as object;
      await report(project, [forged]);
      await write(project);
      const stored = await contentsOf(project);
      expect(stored).toEqual(whole(text));
      // A repeated write finds the version, which has the key with a number.
      await write(project);
      const [count] = await sql`
        SELECT count(DISTINCT id)::integer AS count FROM file_versions
        WHERE project_id = ${project.id} AND content = ${text} AND version_key <> ${key}`;
      expect(count?.["count"]).toBeLessThanOrEqual(1);
      expect(await contentsOf(project)).toEqual(stored);
    }
  });
});

test("a key that the service derives from a text is refused for other contents", async () => {
  const project = await projectOf();
  const text = someText();
  const line = (content: string | undefined, key: string) =>
    file(PATH, { content, version_key: key, chunks: undefined });
  const key = textKey(text, "markdown");
  const { errors } = await report(project, [
    line("# Forged", key),
    line(undefined, key),
    line("# Forged", `${key}:2`),
    line(text, key),
    line("# Own", "text:own"),
  ]);
  const message = "version_key: the service derives such a key from the content, which is another";
  expect(errors).toEqual([1, 2, 3].map((number) => ({ line: number, message })));
});

test("a version's id and key given with other contents are refused instead of ignored", async () => {
  const project = await projectOf();
  const own = file(PATH, { version_key: "1", version_id: crypto.randomUUID() });
  expect(await report(project, [own])).toEqual(allChanged(1));
  expect(await report(project, [own])).toEqual(allUnchanged(1));
  for (const other of [{ content: "# Other" }, { chunks: OTHERS }]) {
    const { errors } = await report(project, [{ ...own, ...other }]);
    const message = "version_key: already names a version of this file with other contents";
    expect(errors).toEqual([{ line: 1, message }]);
  }
});

describe("an import with chunks that are not those of its content", () => {
  const vectorOf = (element: number) =>
    Array.from({ length: 768 }, (_, i) => Number(i === element));
  const embeddingsOf = async ({ id }: TestProject) =>
    await sql<{ embedding: string | null }[]>`
      SELECT encode(c.embedding, 'hex') AS embedding
      FROM environment_files w JOIN chunks c ON c.file_version_id = w.file_version_id
      WHERE w.project_id = ${id}`;

  test("is not reused by a PUT of the content, and passages of it are", async () => {
    const project = await projectOf();
    const text = someText();
    const half = text.indexOf("##");
    const passages = [{ content: text.slice(0, half) }, { content: text.slice(half) }];
    for (const [chunks, isKept] of [
      [OTHERS, false],
      [[{ content: text.slice(half), start_offset: 0 }], false],
      [passages, true],
    ] as const) {
      await report(project, [file(PATH, { content: text, chunks })]);
      const at = `/projects/${project.slug}/files/${PATH}`;
      const before = await api.get(at, editor);
      const answer = await put(project, text);
      expect(answer.status).toBe(200);
      expect(answer.body.version_id === before.body.version_id).toBe(isKept);
      if (!isKept) expect(await contentsOf(project)).toEqual(whole(text));
    }
  });

  test("never gives its embeddings to a text that the project's embedder embeds", async () => {
    for (const key of ["own", undefined, "text"]) {
      const project = await projectOf();
      await api.sql`UPDATE projects SET embedder = 'hashing:feature-hashing:768' WHERE id = ${project.id}`;
      const text = someText();
      const half = text.indexOf("##");
      const chunks = [text.slice(0, half).trim(), text.slice(half).trim()].map((content, i) => ({
        content,
        start_offset: text.indexOf(content),
        metadata: {},
        embedding: vectorOf(i),
      }));
      const version = key === "text" ? textKey(text, "markdown") : key;
      const given = file(PATH, { content: text, chunks, version_key: version });
      expect(await report(project, [given])).toEqual(allChanged(1));
      const [forged] = await embeddingsOf(project);
      expect((await put(project, text)).status).toBe(200);
      const own = await embeddingsOf(project);
      expect(own).not.toContainEqual(forged);
    }
  });

  test("is no other import with the same texts and other embeddings", async () => {
    const project = await projectOf();
    const recordOf = (element: number) =>
      file(PATH, {
        content: "text",
        chunks: [{ content: "text", embedding: vectorOf(element) }],
      });
    const own = { ...recordOf(0), project: "any" } as Parameters<typeof fileVersion>[0];
    const { versionKey } = fileVersion(own);
    await report(project, [{ ...recordOf(1), version_key: versionKey }]);
    const forged = await embeddingsOf(project);
    expect(await report(project, [recordOf(0)])).toEqual(allChanged(1));
    expect(await embeddingsOf(project)).not.toEqual(forged);
    expect(await report(project, [recordOf(0)])).toEqual(allUnchanged(1));
  });
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { markdownChunks } from "../../src/documents/markdown/index.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { type Answer, type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { randomVector } from "../../support/api/versions.ts";
import { beforeCommit } from "../../support/open-transaction.ts";

const api = await sharedApi();
const owner = await api.user();
const editor = await api.user();
const project = await api.project(owner);
await api.join(editor, project, "editor");
const { post } = importsOf(api, owner);
await post(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "staging" },
  {
    record: "file",
    path: "imported.md",
    environments: ["production"],
    releases: ["v1"],
    content: "# Imported\n",
    chunks: [{ content: "# Imported", metadata: { own: true } }],
  },
]);
const pathOf = (file: string, query = "") =>
  `/projects/${project.slug}/files/${encodeURIComponent(file)}${query}`;

interface Put {
  readonly as?: Caller;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly type?: string;
  readonly query?: string;
}

function put(
  file: string,
  body: string | Uint8Array<ArrayBuffer>,
  { as = editor, ifMatch, ifNoneMatch, type = "text/markdown", query }: Put = {},
): Promise<Answer> {
  const headers = {
    "content-type": type,
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
  };
  return api.send("PUT", pathOf(file, query), { as, body, headers });
}

const changes = async (): Promise<number> =>
  (await api.sql`SELECT 1 FROM change_log WHERE project_id = ${project.id}`).length;

describe("PUT /projects/{project_reference}/files/{file_reference}", () => {
  test("what is wrong with a text is told only to those who may write it", async () => {
    const [stranger, viewer] = [await api.user(), await api.user()];
    await api.join(viewer, project, "viewer");
    const broken = Uint8Array.of(0x61, 0xff);
    const before = await changes();
    expect((await put("broken.md", broken, { as: stranger })).status).toBe(404);
    expect((await put("broken.md", broken, { as: viewer })).status).toBe(403);
    expect((await put("broken.md", broken, { query: "?environment=none" })).status).toBe(404);
    expect((await put("broken.md", broken)).status).toBe(400);
    expect(await changes()).toBe(before);
  });

  test("an editor creates a file, whose text is read back as it is, without a byte order mark", async () => {
    const content = "---\ntitle: New\n---\r\n# A\n\nÄ text 😀.\n\n## B\n\nMore.\n";
    const answer = await put("docs/new file.md", `\ufeff${content}`);
    expect(answer.status).toBe(201);
    expect(answer.headers.get("location")).toBe(pathOf("docs/new file.md"));
    expect(answer.body).toMatchObject({ path: "docs/new file.md", title: "New", chunk_count: 2 });
    const read = await api.get(answer.headers.get("location") as string, editor);
    expect(read.body.content).toBe(content);
    expect(read.headers.get("etag")).toBe(answer.headers.get("etag"));
    const { content: _, frontmatter, headings, chunks, ...summary } = read.body;
    expect(answer.body).toEqual(summary);
    const [first] = chunks;
    expect(content.slice(first.start_offset, first.end_offset)).toBe("# A\n\nÄ text 😀.");
  });

  test("a changed file is a new version of the same file, and unchanged content changes nothing", async () => {
    const created = await put("change.md", "# One\n");
    const changed = await put("change.md", "# Two\n");
    expect(changed.status).toBe(200);
    expect(changed.headers.get("location")).toBeNull();
    expect(changed.body.id).toBe(created.body.id);
    expect(changed.body.version_id).not.toBe(created.body.version_id);
    const before = await changes();
    const again = await put("change.md", "# Two\n");
    expect([again.status, again.body]).toEqual([200, changed.body]);
    expect(await changes()).toBe(before);
    const back = await put("change.md", "# One\n");
    expect(back.body.version_id).toBe(created.body.version_id);
  });

  test("the content that an import stored is unchanged content, whatever its chunks are", async () => {
    const before = await api.get(pathOf("imported.md"), editor);
    const answer = await put("imported.md", "# Imported\n");
    expect([answer.status, answer.body.version_id]).toEqual([200, before.body.version_id]);
  });

  test("chunks that an import cut as the service cuts are unchanged content, with a repeated head of a table", async () => {
    const row = (_: unknown, n: number) => `| ${n} | ${"word ".repeat(20)}|`;
    const content = `| a | b |\n|---|---|\n${Array.from({ length: 60 }, row).join("\n")}\n`;
    const chunks = [...markdownChunks(content)];
    const slices = chunks.map((c) => content.slice(c.start_offset, c.end_offset));
    expect(chunks.map((c) => c.content)).not.toEqual(slices);
    const record = { record: "file", path: "table.md", environments: ["production"] };
    const lines = [{ ...record, content, chunks, version_key: "a-table" }];
    expect((await post(project, lines, { as: editor })).body.refused).toBe(0);
    const before = await api.get(pathOf("table.md"), editor);
    const answer = await put("table.md", content);
    expect([answer.status, answer.body.version_id]).toEqual([200, before.body.version_id]);
  });

  test("an imported version whose vectors its client gave is not what a text gets in a project with an embedder", async () => {
    const slug = `p-${randomUUID()}`;
    const created = await api.post("/projects", { slug, name: "A", embedder: "hashing" }, editor);
    const chunk = { content: "# Given", start_offset: 0, end_offset: 7 };
    const embedding = base64Of(randomVector(768, 5));
    for (const given of [{}, { embedding }]) {
      const path = `${Object.keys(given).length}.md`;
      const record = { record: "file", path, environments: ["production"], content: "# Given" };
      const lines = [{ ...record, chunks: [{ ...chunk, ...given }] }];
      expect((await post(created.body, lines, { as: editor })).body.refused).toBe(0);
      const at = `/projects/${slug}/files/${path}`;
      const imported = (await api.get(at, editor)).body.version_id;
      const headers = { "content-type": "text/markdown" };
      const { body } = await api.send("PUT", at, { as: editor, body: "# Given", headers });
      expect(body.version_id === imported).toBe(given.embedding === undefined);
    }
  });

  test("the environment of the query changes and no other", async () => {
    const query = "?environment=staging";
    expect((await put("staged.md", "a", { query })).status).toBe(201);
    expect((await api.get(pathOf("staged.md"), editor)).status).toBe(404);
    expect((await api.get(pathOf("staged.md", query), editor)).status).toBe(200);
  });

  test("plain text has no headings, and an empty file is a file", async () => {
    const plain = await put("notes.txt", "# not a heading\n\ntext", { type: "text/plain" });
    expect(plain.body).toMatchObject({ title: "notes.txt", chunk_count: 1 });
    const read = await api.get(pathOf("notes.txt"), editor);
    expect(read.body.headings).toEqual([]);
    const empty = await put("empty.md", "");
    expect([empty.status, empty.body.size, empty.body.chunk_count]).toEqual([201, 0, 0]);
    const [chunk] = await api.sql`
      SELECT metadata, embedding FROM chunks WHERE file_version_id = ${plain.body.version_id}`;
    expect(chunk).toEqual({ metadata: { headings: [] }, embedding: null });
  });

  test("If-Match lets only the version pass that it names", async () => {
    const { headers } = await put("guarded.md", "one");
    const tag = headers.get("etag") as string;
    for (const ifMatch of ['"other"', `W/${tag}`, tag.replaceAll('"', "")]) {
      const answer = await put("guarded.md", "two", { ifMatch });
      expect([answer.status, answer.body.slug], ifMatch).toEqual([412, "precondition-failed"]);
    }
    expect((await api.get(pathOf("guarded.md"), editor)).body.content).toBe("one");
    expect((await put("guarded.md", "two", { ifMatch: `"other", ${tag}` })).status).toBe(200);
    expect((await put("guarded.md", "three", { ifMatch: "*" })).status).toBe(200);
    expect((await put("missing.md", "one", { ifMatch: "*" })).status).toBe(412);
  });

  test("If-None-Match creates a file without replacing what another client has stored", async () => {
    const created = await put("created.md", "one", { ifNoneMatch: "*" });
    expect(created.status).toBe(201);
    for (const ifNoneMatch of ["*", created.headers.get("etag") as string]) {
      const answer = await put("created.md", "two", { ifNoneMatch });
      expect([answer.status, answer.body.slug], ifNoneMatch).toEqual([412, "precondition-failed"]);
    }
    expect((await api.get(pathOf("created.md"), editor)).body.content).toBe("one");
    expect((await put("created.md", "two", { ifNoneMatch: '"other"' })).status).toBe(200);
  });

  test("of two concurrent changes of the same version exactly one passes", async () => {
    let tag = (await put("race.md", "start")).headers.get("etag") as string;
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        ["a", "b"].map((who) => put("race.md", `${who} ${round}`, { ifMatch: tag })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      const winner = answers.find(({ status }) => status === 200) as Answer;
      tag = winner.headers.get("etag") as string;
      const read = await api.get(pathOf("race.md"), editor);
      expect(read.headers.get("etag")).toBe(tag);
    }
  });

  test("If-Match is compared with what another client is storing at the same time", async () => {
    const earlier = (await put("held.md", "one")).body;
    const { body, headers } = await put("held.md", "two");
    const answer = await beforeCommit(
      api.sql,
      (tx) => tx`
        UPDATE environment_files SET file_version_id = ${earlier.version_id}
        WHERE file_version_id = ${body.version_id}`,
      () => put("held.md", "three", { ifMatch: headers.get("etag") as string }),
    );
    expect([answer.status, answer.body.slug]).toEqual([412, "precondition-failed"]);
    expect((await api.get(pathOf("held.md"), editor)).body.content).toBe("one");
  });

  test("of concurrent creations of a file, new or removed before, exactly one passes", async () => {
    const CREATIONS = 6;
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        Array.from({ length: CREATIONS }, (_, i) =>
          put("created-once.md", `${round} ${i}`, { ifNoneMatch: "*" }),
        ),
      );
      const created = answers.filter(({ status }) => status === 201);
      expect(answers.map(({ status }) => status).sort()).toEqual([
        201,
        ...Array(CREATIONS - 1).fill(412),
      ]);
      const read = await api.get(pathOf("created-once.md"), editor);
      expect(read.headers.get("etag")).toBe((created[0] as Answer).headers.get("etag"));
      await api.send("DELETE", pathOf("created-once.md"), { as: editor });
      // Without a condition one creates it, and the others replace it.
      const written = await Promise.all(
        Array.from({ length: CREATIONS }, (_, i) => put("created-once.md", `again ${round} ${i}`)),
      );
      expect(written.map(({ status }) => status).sort()).toEqual([
        ...Array(CREATIONS - 1).fill(200),
        201,
      ]);
      await api.send("DELETE", pathOf("created-once.md"), { as: editor });
    }
  });

  test("a body that is not text in UTF-8 is refused", async () => {
    const latin = await put("bad.md", new Uint8Array([0x61, 0xe4]));
    expect([latin.status, latin.body.errors]).toEqual([
      400,
      [{ field: "body", message: "is not valid UTF-8 at byte 1" }],
    ]);
    expect((await put("bad.md", "a\0b")).status).toBe(400);
    for (const type of ["application/json", "text/html", "text/plain; charset=iso-8859-1"]) {
      const answer = await put("bad.md", "a", { type });
      expect([answer.status, answer.headers.get("accept")], type).toEqual([
        415,
        "text/markdown, text/plain",
      ]);
    }
    expect((await put("ok.md", "a", { type: 'Text/Markdown; charset="UTF-8"' })).status).toBe(201);
    const large = await put("bad.md", "x".repeat(1_048_577));
    expect([large.status, large.body.slug]).toEqual([413, "payload-too-large"]);
    expect((await api.get(pathOf("bad.md"), editor)).status).toBe(404);
  });

  test("content is stored whatever its escapes stand for, and wherever its title and headings are cut", async () => {
    for (const content of [
      '---\ntitle: "a\\0b"\ntags: ["\\uD83D"]\n---\ntext',
      `# a${"🚀".repeat(300)}\n\ntext`,
    ]) {
      const path = `${crypto.randomUUID()}.md`;
      const answer = await put(path, content);
      expect([answer.status, answer.body.title.isWellFormed()], answer.text).toEqual([201, true]);
      expect((await api.get(pathOf(path), editor)).body.content).toBe(content);
    }
  });

  test("a path that cannot be stored is refused by name", async () => {
    for (const path of ["a\0b", "ä".repeat(513)]) {
      const answer = await put(path, "a");
      expect([answer.status, answer.body.errors[0].field]).toEqual([400, "file_reference"]);
    }
  });

  test("a path that cannot be decoded is refused by name, to write and to remove", async () => {
    for (const segment of ["%", "a%ff", "%c3%28"]) {
      for (const method of ["PUT", "DELETE"]) {
        const path = `/projects/${project.slug}/files/${segment}`;
        const headers = { "content-type": "text/plain" };
        const sent = { as: editor, headers, ...(method === "PUT" && { body: "a" }) };
        const answer = await api.send(method, path, sent);
        expect([answer.status, answer.body.errors[0].field], segment).toEqual([
          400,
          "file_reference",
        ]);
      }
    }
  });
});

test("a change of an environment that serves a release says which, because nobody sees it", async () => {
  const served = await api.project(owner);
  const { post: importInto } = importsOf(api, owner);
  const releases = { v1: "v1", "v 2 \u00e9": "v%202%20%C3%A9" };
  await importInto(served, [
    { record: "environment", name: "production" },
    ...Object.keys(releases).map((name) => ({
      record: "release",
      name,
      environment: "production",
    })),
  ]);
  const path = `/projects/${served.slug}/files/a.md`;
  const change = (method: "PUT" | "DELETE") =>
    api.send(method, path, {
      as: owner,
      ...(method === "PUT" ? { body: "# A" } : {}),
      headers: { "content-type": "text/markdown" },
    });
  const serve = (active_release: string | null) =>
    api.send("PATCH", `/projects/${served.slug}/environments/production`, {
      as: owner,
      json: { active_release },
    });
  for (const method of ["PUT", "DELETE"] as const) {
    expect((await change(method)).headers.get("x-serves-release")).toBeNull();
  }
  for (const [name, shown] of Object.entries(releases)) {
    expect((await serve(name)).status).toBe(200);
    for (const method of ["PUT", "DELETE"] as const) {
      const answer = await change(method);
      expect([answer.status < 300, answer.headers.get("x-serves-release")]).toEqual([true, shown]);
    }
  }
});

import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { cutVersions } from "../../src/content/embeddings/store.ts";
import { sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { post } = importsOf(api, member);
const CONTENT =
  "\ufeff---\ntitle: Ünï\nlist: [a, b]\n---\r\n# One 😀\n\nText.\n\nTwo\n---\n```\n# code\n```\n";
const LARGE = `# Large\n\n${"😀 line of a large file\n".repeat(120_000)}## End\n`;
await post(project, [
  { record: "environment", name: "production" },
  { record: "environment", name: "staging" },
  {
    record: "file",
    path: "docs/a b%.md",
    environments: ["production"],
    releases: ["v1"],
    content: CONTENT,
    chunks: [{ content: "Text." }, { content: "Two" }],
  },
  { record: "file", path: "large.md", environments: ["production"], content: LARGE },
  { record: "file", path: "plain.txt", environments: ["production"], content: "# text" },
  { record: "file", path: "bare.md", environments: ["production"], chunks: [{ content: "c" }] },
]);
const base = `/projects/${project.slug}/files`;
const path = `${base}/${encodeURIComponent("docs/a b%.md")}`;

describe("GET /projects/{project_reference}/files/{file_reference}", () => {
  test("a member reads content, frontmatter, headings and chunks, which offsets cut out", async () => {
    const { status, body } = await api.get(path, member);
    expect(status).toBe(200);
    expect(body).toMatchObject({ path: "docs/a b%.md", title: "Ünï", chunk_count: 2 });
    expect(body.content).toBe(CONTENT);
    expect(body.size).toBe(Buffer.byteLength(CONTENT));
    expect(body.frontmatter).toEqual([
      { key: "title", value: "Ünï" },
      { key: "list", value: '["a","b"]' },
    ]);
    const cut = (part: { start_offset: number; end_offset: number }) =>
      CONTENT.slice(part.start_offset, part.end_offset);
    expect(body.headings.map(({ level, text }: never) => [level, text])).toEqual([
      [1, "One 😀"],
      [2, "Two"],
    ]);
    expect(body.headings.map(cut)).toEqual(["# One 😀\n", "Two\n---\n"]);
    expect(body.chunks.map(cut)).toEqual(["Text.", "Two"]);
    expect(body.chunks[0]).toMatchObject({ index: 0, token_count: 2, id: expect.any(String) });
  });

  test("a file is found by its id in either case as by its path", async () => {
    const { body } = await api.get(path, member);
    const byId = await api.get(`${base}/${body.id.toUpperCase()}`, member);
    expect(byId.body).toEqual(body);
  });

  test("a file of several megabytes is answered exactly as it was stored", async () => {
    const { status, body } = await api.get(`${base}/large.md`, member);
    expect(status).toBe(200);
    expect(body.content === LARGE).toBe(true);
    expect(body.headings.map(({ text }: never) => text)).toEqual(["Large", "End"]);
    expect(body.headings[1].start_offset).toBe(LARGE.indexOf("## End"));
  });

  test("only Markdown has headings and frontmatter, and a file may have chunks alone", async () => {
    const plain = await api.get(`${base}/plain.txt`, member);
    expect(plain.body).toMatchObject({ title: "plain.txt", headings: [], frontmatter: [] });
    const bare = await api.get(`${base}/bare.md`, member);
    expect(bare.body).toMatchObject({ title: "bare", content: null, size: 0, chunk_count: 1 });
  });

  test("an unchanged file is answered 304 to its tag, which names the version", async () => {
    const answer = await api.get(path, member);
    const tag = answer.headers.get("etag") as string;
    expect(tag).toBe(`"${answer.body.version_id}"`);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    expect((await api.get(path, member, { "if-none-match": tag })).status).toBe(304);
    expect((await api.get(path, member, { "if-none-match": '"other"' })).status).toBe(200);
  });

  test("a file of a release may be kept for good", async () => {
    const answer = await api.get(`${path}?release=v1`, member);
    expect(answer.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    const tag = answer.headers.get("etag") as string;
    const again = await api.get(`${path}?release=v1`, member, { "if-none-match": tag });
    expect(again.status).toBe(304);
    expect(again.headers.get("cache-control")).toContain("immutable");
  });

  test("a text that an embedder may still cut into chunks is not kept for good, and has another tag then", async () => {
    const own = await api.project(member);
    const { report } = importsOf(api, member);
    await report(own, [
      { record: "environment", name: "production" },
      ...[{ environments: ["production"] }, { releases: ["v1"] }].map((scope) => ({
        record: "file",
        path: "later.md",
        content: "# Later\n\nText.\n",
        ...scope,
      })),
    ]);
    const files = `/projects/${own.slug}/files/later.md`;
    const before = await api.get(`${files}?release=v1`, member);
    const tag = before.headers.get("etag") as string;
    expect(before.body.chunk_count).toBe(0);
    expect(before.headers.get("cache-control")).toBe("private, no-cache");
    await api.sql`UPDATE projects SET embedder = 'away:none:768' WHERE id = ${own.id}`;
    await cutVersions(api.sql, [before.body.version_id]);
    const after = await api.get(`${files}?release=v1`, member, { "if-none-match": tag });
    expect([after.status, after.body.chunk_count]).toEqual([200, 1]);
    expect(after.headers.get("cache-control")).toContain("immutable");
    // Nobody has changed the file, so its editor may.
    const headers = { "content-type": "text/markdown", "if-match": tag };
    const changed = await api.send("PUT", files, { as: member, body: "# Changed\n", headers });
    expect(changed.status).toBe(200);
  });

  test("a file that is unknown or in another scope or project only is not found", async () => {
    const { body } = await api.get(path, member);
    const other = await api.project(member);
    await importsOf(api, member).post(other, [{ record: "environment", name: "production" }]);
    for (const at of [
      `${base}/none.md`,
      `${base}/${randomUUID()}`,
      `${base}/%00`,
      `${path}?environment=staging`,
      `${base}/plain.txt?release=v1`,
      `/projects/${other.slug}/files/${body.id}`,
    ]) {
      const answer = await api.get(at, member);
      expect(answer.status, at).toBe(404);
      expect(answer.body.slug, at).toBe("file-not-found");
    }
  });
});

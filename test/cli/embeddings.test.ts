import { describe, expect, test } from "bun:test";
import { startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";
import { callCommand } from "../../support/processes/command.ts";
import { ADA, DOCS, openCli, PRODUCTION, vector } from "./support.ts";

const cli = await openCli();
const endpoint = startEmbeddingEndpoint();
endpoint.dimension = 1024;
const EMBEDDERS = JSON.stringify({
  e5: { url: endpoint.url, model: "voyage-code-3", dimension: 1024 },
});
const rebuild = (...options: string[]) =>
  callCommand(["embeddings", "rebuild", ...options], {
    env: { DATABASE_URL: cli.database.url, EMBEDDERS },
  });
const file = (path: string, fields: object) => ({
  record: "file",
  project: "docs",
  path,
  environments: ["production"],
  ...fields,
});
const embedders = async () =>
  (
    await cli.sql<{ embedder: string | null; count: number }[]>`
      SELECT embedder, count(*)::integer AS count FROM chunks GROUP BY 1 ORDER BY 1`
  ).map(({ embedder, count }) => [embedder, count]);
const embedderOf = async () => (await cli.sql`SELECT embedder FROM projects`)[0]?.["embedder"];

const given = Array.from({ length: 100 }, (_, i) => ({
  content: `Chunk ${i}.`,
  embedding: vector(768, i),
}));
const imported = await cli.import([
  ADA,
  DOCS,
  PRODUCTION,
  file("given.md", { chunks: given }),
  file("text.md", { content: "# A text\n\nThat nobody has cut." }),
]);
if (imported.status !== 0) throw new Error(imported.stderr);

describe("tessera embeddings rebuild", () => {
  test("names what is missing, and changes nothing", async () => {
    const none = await rebuild("--project", "docs");
    expect([none.status, none.stderr]).toEqual([
      1,
      "tessera: docs has no embedder: name one with --embedder\n",
    ]);
    const unknown = await rebuild("--project", "docs", "--embedder", "other");
    expect(unknown.stderr).toContain(
      'no embedder is called "other": choose from hashing, e5, or add it to EMBEDDERS',
    );
    expect((await rebuild()).status).toBe(2);
    expect((await rebuild("--help")).stdout).toContain("goes on where it was");
    expect(await embedders()).toEqual([[null, 100]]);
  });

  test("that is interrupted leaves the old embeddings, and goes on where it was", async () => {
    endpoint.next.push(
      () => undefined,
      () => new Response("{}", { status: 200 }),
    );
    const away = () => new Response("", { status: 401 });
    endpoint.next.push(...Array.from({ length: 6 }, () => away));
    const broken = await rebuild("--project", "docs", "--embedder", "e5");
    expect(broken.status).toBe(1);
    expect(broken.stderr).toContain("the embedder e5 answered 401: run the command again");
    expect(broken.stderr).not.toContain(endpoint.url);
    expect(await embedders()).toEqual([[null, 101]]);
    const embedded = endpoint.served.flatMap(({ input }) => input).length;
    expect(embedded).toBeGreaterThan(0);
    endpoint.next.length = 0;
    const done = await rebuild("--project", "docs", "--embedder", "e5");
    expect([done.status, done.stdout]).toEqual([
      0,
      `embedded 101 chunks by e5:voyage-code-3:1024, ${embedded} of them before\n`,
    ]);
    const all = endpoint.served.flatMap(({ input }) => input);
    expect(new Set(all).size).toBe(all.length);
    expect(await embedders()).toEqual([["e5:voyage-code-3:1024", 101]]);
    expect(await embedderOf()).toBe("e5:voyage-code-3:1024");
    expect(await cli.sql`SELECT 1 FROM embedding_queue`).toHaveLength(0);
    const [change] = await cli.sql`SELECT kind FROM change_log ORDER BY seq DESC LIMIT 1`;
    expect(change?.["kind"]).toBe("rebuild");
  });

  test("gives a project another embedder, and lets a refused text wait", async () => {
    endpoint.instead = undefined;
    expect((await rebuild("--project", "docs", "--embedder", "hashing")).status).toBe(0);
    expect(await embedderOf()).toBe("hashing:feature-hashing-1:768");
    endpoint.instead = ({ input }) =>
      input.some((text) => text.includes("Chunk 7."))
        ? new Response("", { status: 422 })
        : Response.json({
            data: input.map((_, index) => ({ index, embedding: vector(1024, index + 1) })),
          });
    const done = await rebuild("--project", "docs", "--embedder", "e5");
    expect(done.stdout).toBe("embedded 100 chunks by e5:voyage-code-3:1024; 1 failed and wait\n");
    expect(done.stderr).toContain("given.md: the embedder e5 answered 422");
    expect(await embedders()).toEqual([
      ["e5:voyage-code-3:1024", 100],
      [null, 1],
    ]);
    expect(await cli.sql`SELECT 1 FROM embedding_queue`).toHaveLength(1);
  });

  test("with --failed makes the failed chunks of the project due, and embeds nothing itself", async () => {
    await cli.sql`
      INSERT INTO embedding_failures (chunk_id, project_id, reason, attempts, due)
      SELECT id, project_id, 'odd', 5, now() + interval '1 hour' FROM chunks WHERE embedding IS NULL`;
    await cli.sql`UPDATE embedding_queue SET due = now() + interval '1 hour'`;
    const asked = endpoint.served.length;
    const done = await rebuild("--project", "docs", "--failed");
    expect([done.status, done.stdout]).toEqual([0, "the service tries 1 chunks again\n"]);
    expect(endpoint.served.length).toBe(asked);
    for (const table of ["embedding_failures", "embedding_queue"]) {
      const due = await cli.sql.unsafe(`SELECT FROM ${table} WHERE due <= now()`);
      expect(due, table).toHaveLength(1);
    }
    expect((await rebuild("--project", "docs", "--failed", "--embedder", "e5")).status).toBe(2);
  });

  test("ends when texts have nothing to cut, however often they are cut", async () => {
    endpoint.instead = undefined;
    const texts = ["---\ntitle: Only this\n---\n", "\ufeff", "\u00a0\u2003\n", "\u0085", " ", ""];
    const files = texts.map((content, i) => file(`blank-${i}.md`, { content }));
    expect((await cli.import(files)).status).toBe(0);
    const done = await rebuild("--project", "docs", "--embedder", "hashing");
    expect(done.status).toBe(0);
    const cut = await cli.sql`
      SELECT f.path FROM file_versions v JOIN files f ON f.id = v.file_id
      WHERE f.path LIKE 'blank-%' AND v.chunk_count > 0`;
    expect(cut).toEqual([{ path: "blank-3.md" }] as object[] as typeof cut);
    expect(await cli.sql`SELECT 1 FROM embedding_queue`).toHaveLength(0);
  });
});

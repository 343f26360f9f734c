import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type EmbeddingEndpoint,
  startEmbeddingEndpoint,
  vectorOf,
} from "../../support/embedding-endpoint.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { callCommand } from "../../support/processes/command.ts";
import { docxFile, paragraph, pdfFile } from "../unit/documents/conversion/office-files.ts";
import { contentsOf, dump, openCli, type TestCli } from "./support.ts";

let cli: TestCli;
let folder: string;
beforeEach(async () => {
  cli = await openCli();
  folder = temporaryFolder("markdown");
});

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const importFolder = (...options: string[]) =>
  cli.run(["import", "--markdown", folder, "--project", "handbook", ...options]);
const paths = async (environment = "production") =>
  Object.keys(await contentsOf(cli.sql, "environment", environment));

const GUIDE = "---\ntitle: Guide\ntags: [a, b]\n---\n\nFirst words.\n\n## Setup\n\nInstall it.\n";

/** The lines about single files; after the first import of a project, hints follow. */
function reportsOf({ stderr }: { readonly stderr: string }): string[] {
  return stderr.split("\nThe project ", 1)[0]?.split("\n").filter(Boolean) ?? [];
}

describe("importing Markdown", () => {
  test("into an environment that serves a release says that searches do not show it", async () => {
    write("guide.md", GUIDE);
    await importFolder();
    await cli.run(["releases", "create", "v1", "--project", "handbook"]);
    await cli.run(["environments", "activate", "production", "v1", "--project", "handbook"]);
    write("guide.md", `${GUIDE}More.\n`);
    const { status, stderr } = await importFolder();
    expect(status).toBe(0);
    expect(stderr).toContain("production serves the release v1: searches show the imported files");
  });

  test("creates the project and its owner, and stores files with their chunks", async () => {
    write("guide.md", GUIDE);
    write("deep/er/more.MDX", "# More\n\nText with 漢字 and 🙂.\n");
    write("notes.txt", "not Markdown");
    write(".hidden/x.md", "hidden");
    write("node_modules/y.md", "foreign");
    const result = await importFolder();
    expect(result.status).toBe(0);
    expect(reportsOf(result)).toEqual(["tessera: other files are left out: 1 .txt (--text)"]);
    expect(await paths()).toEqual(["deep/er/more.MDX", "guide.md"]);
    const chunks = await cli.sql`
      SELECT c.content, c.metadata, c.dimension, v.content AS file, start_offset, end_offset
      FROM chunks c JOIN file_versions v ON v.id = c.file_version_id
      WHERE file_path = 'guide.md' ORDER BY index`;
    expect([...chunks]).toMatchObject([
      { content: "First words.", metadata: { headings: [] }, dimension: 768, file: GUIDE },
      { content: "## Setup\n\nInstall it.", metadata: { headings: ["Setup"] }, dimension: 768 },
    ]);
    for (const { content, file, start_offset, end_offset } of chunks) {
      expect(file.slice(start_offset, end_offset)).toBe(content);
    }
    const owners = await cli.sql`
      SELECT u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id`;
    expect([...owners]).toEqual([{ email: "owner@localhost", role: "owner" }]);
  });

  test("imports the text of PDF and Word documents, and names those without any and what is left out of others", async () => {
    const pages = [["First page"], ["Second page"]];
    write("deep/report.pdf", pdfFile({ title: "Report", pages }));
    write("scan.pdf", pdfFile({ pages: [[]] }));
    const symbol = '<w:p><w:r><w:sym w:font="Nobody" w:char="F123"/></w:r></w:p>';
    write("plan.docx", docxFile(paragraph("Words") + symbol, { title: "Plan" }));
    write("broken.docx", "no archive");
    const result = await importFolder("--pdf", "--docx");
    expect(result.status).toBe(1);
    const reports = reportsOf(result).sort();
    expect(reports[0]).toStartWith("broken.docx: cannot be read as DOCX");
    expect(reports[1]).toBe(
      "plan.docx: has parts that are left out: character F123 of the font Nobody",
    );
    expect(reports[2]).toBe("scan.pdf: has no text: its pages may have been scanned");
    const rows = await cli.sql`
      SELECT f.path, v.title FROM file_versions v JOIN files f ON f.id = v.file_id ORDER BY f.path`;
    expect([...rows]).toEqual([
      { path: "deep/report.pdf.md", title: "Report" },
      { path: "plan.docx.md", title: "Plan" },
    ]);
    const headings =
      await cli.sql`SELECT metadata FROM chunks WHERE file_path LIKE '%pdf.md' ORDER BY index`;
    expect(headings.map(({ metadata }) => metadata.headings)).toEqual([["Page 1"], ["Page 2"]]);
    rmSync(join(folder, "scan.pdf"));
    rmSync(join(folder, "broken.docx"));
    expect((await importFolder("--pdf", "--docx")).stdout).toContain("nothing changed");
  });

  test("changes nothing when repeated, and refuses another owner with the command that adds one", async () => {
    write("guide.md", GUIDE);
    await importFolder("--owner", "ada@example.com");
    const first = await dump(cli.sql);
    const second = await importFolder("--owner", "ADA@example.com");
    expect(second.stdout).toContain("nothing changed");
    const other = await importFolder("--owner", "somebody@example.com");
    expect(other).toMatchObject({ status: 1, stdout: "" });
    expect(other.stderr).toContain(
      "members add somebody@example.com --project handbook --role owner",
    );
    expect(await dump(cli.sql)).toEqual(first);
  });

  test("updates changed files, and removes deleted ones only with --prune", async () => {
    write("a.md", "one");
    write("b.md", "stays");
    await importFolder("--environment", "staging");
    const before = await contentsOf(cli.sql, "environment", "staging");
    write("a.md", "two");
    rmSync(join(folder, "b.md"));
    await importFolder("--environment", "staging");
    const after = await contentsOf(cli.sql, "environment", "staging");
    expect(after["a.md"]).not.toBe(before["a.md"] as string);
    expect(after["b.md"]).toBe(before["b.md"] as string);
    expect((await importFolder("--environment", "staging", "--prune", "--yes")).status).toBe(0);
    expect(await paths("staging")).toEqual(["a.md"]);
    expect(await paths("production")).toEqual([]);
  });

  test("reports each file that is not text, and imports the others", async () => {
    write("good.md", "good");
    write("junk.md", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]));
    write("nul.md", "a\0b");
    write("huge.md", Buffer.alloc(16_777_217, "x"));
    symlinkSync("/etc/hostname", join(folder, "link.md"));
    const result = await importFolder();
    expect(result.status).toBe(1);
    expect(reportsOf(result).sort()).toEqual([
      "huge.md: has more than 16777216 bytes of text: split it into several files",
      "junk.md: is not valid UTF-8 at byte 0",
      "nul.md: is not text: it contains NUL bytes, the first at byte 1",
      "tessera: symbolic links are not followed: link.md",
    ]);
    expect(await paths()).toEqual(["good.md"]);
  });

  test("warns when files that stay are of another embedder, and not when all are embedded again", async () => {
    write("a.md", "one");
    write("b.md", "two");
    await importFolder("--embed-dimension", "768");
    rmSync(join(folder, "b.md"));
    const mixed = await importFolder("--embed-dimension", "1024");
    expect(mixed.status).toBe(0);
    expect(mixed.stderr).toContain("production of handbook has files that another embedder than");
    write("b.md", "two");
    expect((await importFolder("--embed-dimension", "1024")).stderr).toBe("");
  });

  test("embeds by the project's embedder, which another one cannot replace, and later while it is away", async () => {
    const endpoint = startEmbeddingEndpoint();
    const settings = { url: endpoint.url, model: "nomic-embed-text", dimension: 768 };
    const env = { DATABASE_URL: cli.database.url, EMBEDDERS: JSON.stringify({ own: settings }) };
    const run = (...options: string[]) =>
      callCommand(["import", "--markdown", folder, "--project", "handbook", ...options], { env });
    const embedders = async () =>
      (await cli.sql`SELECT embedder FROM chunks ORDER BY file_path`).map((row) => row["embedder"]);
    write("a.md", "one");
    const created = await run("--embedder", "own");
    expect(created.status, created.stderr).toBe(0);
    expect(await embedders()).toEqual(["own:nomic-embed-text:768"]);
    const other = await run("--embed-dimension", "1024");
    expect([other.status, other.stderr]).toEqual([
      1,
      "tessera: the embedder of handbook is own:nomic-embed-text:768, and not feature-hashing-1:1024\n",
    ]);
    endpoint.instead = () => new Response("", { status: 503 });
    write("b.md", "two");
    const away = await run();
    expect([away.status, reportsOf(away)]).toEqual([
      0,
      ["tessera: the embedder own answered 503: the service embeds the files once it can"],
    ]);
    expect(await embedders()).toEqual(["own:nomic-embed-text:768", null]);
    expect(await cli.sql`SELECT 1 FROM embedding_queue`).toHaveLength(1);
    endpoint.instead = undefined;
    const again = await run();
    expect([again.status, endpoint.served.length]).toEqual([0, 1]);
  });

  test("fails at once without the key that an embedder needs, and names it", async () => {
    write("a.md", "one");
    const result = await importFolder("--embed", "openai");
    expect(result).toMatchObject({ status: 1, stdout: "" });
    expect(result.stderr).toBe(
      "tessera: --embed openai needs a file with an API key of OpenAI: --embed-key-file\n",
    );
    expect(await paths()).toEqual([]);
  });

  test("refuses a file for the key that is empty, or that no endpoint gets", async () => {
    write("a.md", "one");
    const keyFile = join(folder, "empty.key");
    writeFileSync(keyFile, "\n");
    const unused = await importFolder("--embed-key-file", keyFile);
    expect(unused.status).toBe(2);
    expect(unused.stderr).toContain("--embed-key-file requires --embed or --embed-url");
    const empty = await importFolder("--embed", "openai", "--embed-key-file", keyFile);
    expect(empty).toMatchObject({
      status: 1,
      stderr: `tessera: --embed-key-file is empty: ${keyFile}\n`,
    });
    expect(await paths()).toEqual([]);
  });

  test("stores a file that is named under its name, and nothing else of its folder", async () => {
    write("deep/one.md", "# One\n\nText.\n");
    write("deep/two.md", "# Two\n");
    write("deep/scan.pdf", "");
    const one = join(folder, "deep/one.md");
    const run = (...options: string[]) => cli.run(["import", ...options, "--project", "handbook"]);
    const result = await run("--markdown", one);
    expect(result.status, result.stderr).toBe(0);
    expect(reportsOf(result)).toEqual([]);
    expect(await paths()).toEqual(["one.md"]);
    const pruned = await run("--markdown", one, "--prune", "--yes");
    expect([pruned.status, pruned.stderr]).toEqual([
      1,
      `tessera: --prune removes the files that a folder lacks, and ${one} is a file\n`,
    ]);
    const pdf = join(folder, "deep/scan.pdf");
    expect((await run("--markdown", pdf)).stderr).toContain(
      `there is no .md, .mdx, or .markdown file in ${pdf}; other files are left out: 1 .pdf (--pdf)`,
    );
    const records = await cli.run(["import", one]);
    expect(records.stderr).toBe(
      `tessera: ${one} is not NDJSON: use --markdown to import a Markdown file\n`,
    );
    expect(await paths()).toEqual(["one.md"]);
  });

  test("fails for a folder that is missing or empty, and for an invalid slug", async () => {
    const run = (dir: string, slug: string) =>
      cli.run(["import", "--markdown", dir, "--project", slug]);
    expect(await run("/nowhere", "x")).toMatchObject({ status: 1, stdout: "" });
    const empty = await run(folder, "x");
    expect(empty.stderr).toBe(`tessera: there is no .md, .mdx, or .markdown file in ${folder}\n`);
    write("scan.pdf", "");
    const hint = `there is no .md, .mdx, or .markdown file in ${folder}; other files are left out: 1 .pdf (--pdf)`;
    expect((await run(folder, "x")).stderr).toBe(`tessera: ${hint}\n`);
    rmSync(join(folder, "scan.pdf"));
    write("a.md", "a");
    const slug = await run(folder, "No Slug");
    expect(slug.status).toBe(1);
    expect(slug.stderr).toContain("slug: must match");
  });
});

describe("importing Markdown with an embedding endpoint", () => {
  const keyFile = join(temporaryFolder("key"), "key");
  writeFileSync(keyFile, "secret-token\n");
  let endpoint: EmbeddingEndpoint;
  beforeEach(() => {
    endpoint = startEmbeddingEndpoint();
  });
  const importWithModel = (...options: string[]) =>
    callCommand(
      [
        ...["import", "--markdown", folder, "--project", "handbook"],
        ...["--embed-url", endpoint.url, "--embed-model", "test-model"],
        ...["--embed-key-file", keyFile, ...options],
      ],
      { env: { DATABASE_URL: cli.database.url } },
    );
  const sections = (count: number) =>
    Array.from({ length: count }, (_, i) => `## Part ${i}\n\nText ${i}.\n`).join("\n");
  const stored = async () =>
    await cli.sql`SELECT content, embedding, dimension FROM chunks ORDER BY file_path, index`;

  test("stores the vector of each chunk, requested in batches and as base64", async () => {
    write("a.md", sections(90));
    write("b.md", sections(50));
    const result = await importWithModel();
    expect(result.status).toBe(0);
    expect(reportsOf(result)).toEqual([]);
    expect(endpoint.served.map(({ input }) => input.length)).toEqual([1, 64, 64, 12]);
    expect(endpoint.served.every((request) => request.encoding_format === "base64")).toBe(true);
    expect(endpoint.served.every((request) => request.model === "test-model")).toBe(true);
    expect(new Set(endpoint.authorizations)).toEqual(new Set(["Bearer secret-token"]));
    // The first request tells whether the endpoint works.
    const inputs = endpoint.served.slice(1).flatMap(({ input }) => input);
    const chunks = await stored();
    expect(chunks).toHaveLength(140);
    chunks.forEach((chunk, i) => {
      const text = String(chunk["content"]).replace(/^#+ /, "");
      expect(inputs[i]).toEndWith(text);
      const bytes = Buffer.from(Float32Array.from(vectorOf(inputs[i] ?? "", 768)).buffer);
      expect(Buffer.from(chunk["embedding"]).equals(bytes)).toBe(true);
    });
  });

  test("falls back to numbers if the endpoint rejects base64", async () => {
    endpoint.base64 = false;
    write("a.md", sections(3));
    expect((await importWithModel()).status).toBe(0);
    expect(endpoint.served.map((request) => request.encoding_format)).toEqual(["float", "float"]);
    expect(await stored()).toHaveLength(3);
  });

  test("does not embed unchanged files again", async () => {
    write("a.md", sections(3));
    write("b.md", sections(2));
    await importWithModel();
    endpoint.served.length = 0;
    write("b.md", sections(1));
    const result = await importWithModel();
    expect(result.status).toBe(0);
    expect(endpoint.served.map(({ input }) => input)).toEqual([
      ["Does this work?"],
      [expect.stringContaining("Text 0.")],
    ]);
  });

  test("requests the dimension given by --embed-dimension", async () => {
    write("a.md", sections(1));
    expect((await importWithModel("--embed-dimension", "1024")).status).toBe(0);
    expect(endpoint.served[0]?.dimensions).toBe(1024);
    expect((await stored())[0]?.["dimension"]).toBe(1024);
  });

  test("fails with a remedy when the endpoint answers with an error", async () => {
    write("a.md", sections(1));
    const failing = async (answer: Response, text: string) => {
      endpoint.next.push(() => answer);
      const result = await importWithModel();
      expect(result.status).toBe(1);
      expect(result.stderr).toStartWith("tessera: ");
      expect(result.stderr).toContain(text);
      expect(result.stderr).not.toContain("secret-token");
    };
    await failing(new Response("no", { status: 401 }), "answered 401 (no): check --embed-key-file");
    await failing(new Response("no", { status: 404 }), "check --embed-url and --embed-model");
    expect(await cli.sql`SELECT FROM projects`).toHaveLength(0);
  });

  test("fails at once when nothing listens at the endpoint, and creates no project", async () => {
    write("a.md", sections(1));
    const model = ["--embed-url", "http://127.0.0.1:9", "--embed-model", "m"];
    const result = await cli.run([
      ...["import", "--markdown", folder, "--project", "handbook", ...model],
    ]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("the embedding endpoint does not respond (");
    expect(result.stderr).toContain("check --embed-url");
    expect(result.stderr).not.toContain("attempts");
    expect(await cli.sql`SELECT FROM projects`).toHaveLength(0);
    expect(await cli.sql`SELECT FROM users`).toHaveLength(0);
  });
});

import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DOCUMENT_MAX_BYTES } from "../../src/domain/limits.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const owner = await api.user();
const { key } = await api.key(owner);
const env = { DATABASE_URL: api.databaseUrl };

/** Texts as people's editors write them, by path, each with the text that is stored and its title. */
const DOCUMENTS: Readonly<
  Record<string, { bytes: string; stored?: string; title: string; warning?: string }>
> = {
  "plain.md": { bytes: "# Plain\n\nSome text.\n", title: "Plain" },
  "mark.md": {
    bytes: "\ufeff---\ntitle: Marked\n---\n\n# A\n\nText.\n",
    stored: "---\ntitle: Marked\n---\n\n# A\n\nText.\n",
    title: "Marked",
  },
  "mark-only.md": { bytes: "\ufeff", stored: "", title: "mark-only" },
  "old-mac.md": { bytes: "# One\r\rText of one.\r\r## Two\r\rMore.\r", title: "One" },
  "windows.md": { bytes: "---\r\ntitle: W\r\n---\r\n\r\n## Two\r\n\r\nMore.\r\n", title: "W" },
  "toml.mdx": { bytes: '+++\ntitle = "T"\n+++\n\nText.\n', title: "T" },
  "colon.markdown": {
    bytes: "---\ntitle: Fault: a colon\n---\n\n# Heading\n\nText.\n",
    title: "Heading",
    warning: "frontmatter is not valid YAML at line 2",
  },
  "unclosed.md": {
    bytes: "---\ntitle: never\n\nText.\n",
    title: "unclosed",
    warning: "frontmatter is not closed",
  },
  "no-map.md": { bytes: "---\n- just\n- items\n---\n\nMore text.\n", title: "no-map" },
  "template.md": { bytes: "---\ntitle: {{title}}\n---\n\nText.\n", title: "{{title}}" },
  "setext.md": { bytes: "Two\nlines\n===\n\nText.\n", title: "Two lines" },
  "cafe\u0301.md": { bytes: "Text of a café.\n", title: "café" },
  "empty.md": { bytes: "", title: "empty" },
  "notes.txt": {
    bytes: "\ufeff# no heading\r\n\r\nText.\n",
    stored: "# no heading\r\n\r\nText.\n",
    title: "notes.txt",
  },
};
/** A document that no way in takes, and where it is no text. */
const BROKEN = { path: "broken.md", bytes: Buffer.from("# Latin caf\xe9\n", "latin1"), at: 11 };
/** A document that has one byte of text too much for every way in. */
const LARGE = { path: "large.md", bytes: Buffer.alloc(DOCUMENT_MAX_BYTES + 1, "a line\n") };

interface Outcome {
  readonly project: TestProject;
  /** What its writer was told, in the words of each way in. */
  readonly told: string;
}

async function newProject(): Promise<TestProject> {
  const project = await api.project(owner);
  await api.send("PATCH", `/projects/${project.slug}`, {
    as: owner,
    body: JSON.stringify({ embedder: "hashing" }),
    headers: { "content-type": "application/json" },
  });
  await importsOf(api, owner).post(project, [{ record: "environment", name: "production" }]);
  return project;
}

function folderOfAll(): string {
  const folder = temporaryFolder("ways");
  const write = (path: string, bytes: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  };
  for (const [path, { bytes }] of Object.entries(DOCUMENTS)) write(path, bytes);
  for (const { path, bytes } of [BROKEN, LARGE]) write(path, bytes);
  return folder;
}

/** A line of NDJSON with bytes that are no text. */
function brokenLine(project?: string): Buffer {
  const record = { record: "file", project, path: BROKEN.path, content: "@" };
  const [before = "", after = ""] = ndjson([record]).split("@");
  return Buffer.concat([Buffer.from(before), BROKEN.bytes.subarray(0, -1), Buffer.from(after)]);
}

const recordsOf = (project?: string) =>
  [...Object.entries(DOCUMENTS), [LARGE.path, { bytes: String(LARGE.bytes) }] as const].map(
    ([path, { bytes: content }]) => ({
      record: "file",
      project,
      path,
      environments: ["production"],
      content,
    }),
  );

const WAYS: Readonly<Record<string, (project: TestProject) => Promise<string>>> = {
  async "PUT of a file"({ slug }) {
    const told: string[] = [];
    const put = async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
      const address = `/projects/${slug}/files/${encodeURIComponent(path)}`;
      const headers = { "content-type": path.endsWith(".txt") ? "text/plain" : "text/markdown" };
      const { status, body: answer } = await api.send("PUT", address, { as: owner, body, headers });
      for (const { message } of answer.warnings ?? []) told.push(`${path}: ${message}`);
      if (status >= 400) told.push(`${path}: ${answer.detail}`);
    };
    for (const [path, { bytes }] of Object.entries(DOCUMENTS)) await put(path, bytes);
    for (const { path, bytes } of [BROKEN, LARGE]) await put(path, Uint8Array.from(bytes));
    return told.join("\n");
  },
  async "import over HTTP"(project) {
    const lines = recordsOf();
    const { body } = await api.send("POST", `/projects/${project.slug}/import`, {
      as: owner,
      body: new Uint8Array(Buffer.concat([Buffer.from(ndjson(lines)), brokenLine()])),
      headers: { "content-type": "application/x-ndjson" },
    });
    const paths = [...lines.map(({ path }) => path), BROKEN.path];
    return [...body.warnings, ...body.errors]
      .map(({ line, message }: Json) => `${paths[line - 1]}: ${message}`)
      .join("\n");
  },
  async "import of records"({ slug }) {
    const lines = recordsOf(slug);
    const input = Buffer.concat([Buffer.from(ndjson(lines)), brokenLine(slug)]);
    const { stderr } = await callCommand(["import", "-"], { env, stdin: new Uint8Array(input) });
    const paths = [...lines.map(({ path }) => path), BROKEN.path];
    return stderr.replace(/^-:(\d+)/gm, (_, line) => String(paths[Number(line) - 1]));
  },
  async "import of a folder"({ slug }) {
    const args = ["import", "--markdown", folderOfAll(), "--project", slug, "--text"];
    return (await callCommand(args, { env })).stderr;
  },
  async sync({ slug }) {
    const args = [
      "sync",
      folderOfAll(),
      "--project",
      slug,
      "--url",
      api.url,
      "--key",
      key,
      "--text",
    ];
    return (await callCommand(args, { env: {} })).stderr;
  },
};

/** The files of a project with their chunks, once all are embedded. */
async function storedIn({ slug, id }: TestProject): Promise<Json[]> {
  await until("no file waits for its embedding", async () => {
    const waiting = await api.sql`SELECT 1 FROM embedding_queue WHERE project_id = ${id}`;
    return waiting.length === 0;
  });
  const files: Json[] = [];
  const { body } = await api.get(`/projects/${slug}/files?limit=100`, owner);
  for (const { path } of body.data) {
    const address = `/projects/${slug}/files/${encodeURIComponent(path)}`;
    const { title, content, chunks, headings, frontmatter } = (await api.get(address, owner)).body;
    const places = chunks.map(({ start_offset: start, end_offset: end }: Json) => [start, end]);
    files.push({ path, title, content, places, headings, frontmatter });
  }
  return files;
}

const outcomes = new Map<string, Promise<Outcome>>();
function outcomeOf(way: string): Promise<Outcome> {
  const known = outcomes.get(way);
  if (known !== undefined) return known;
  const outcome = (async () => {
    const project = await newProject();
    return { project, told: await (WAYS[way] as (typeof WAYS)[string])(project) };
  })();
  outcomes.set(way, outcome);
  return outcome;
}

describe.each(Object.keys(WAYS))("%s", (way) => {
  test("stores the same texts under the same paths, titles and chunks as every other way in", async () => {
    const stored = await storedIn((await outcomeOf(way)).project);
    const expected = Object.entries(DOCUMENTS).map(([path, { bytes, stored: text, title }]) => ({
      path: path.normalize("NFC"),
      content: text ?? bytes,
      title,
    }));
    const byPath = (a: Json, b: Json) => (a.path < b.path ? -1 : 1);
    expect(
      stored.map(({ path, content, title }) => ({ path, content, title })).sort(byPath),
    ).toEqual(expected.sort(byPath));
    expect(stored).toEqual(await storedIn((await outcomeOf("PUT of a file")).project));
  });

  test("tells of frontmatter that cannot be read, and where bytes are no text", async () => {
    const { told } = await outcomeOf(way);
    const lines = told.split("\n");
    for (const [path, { warning }] of Object.entries(DOCUMENTS)) {
      const about = lines.filter((line) => line.startsWith(path) || line.includes(`${path}: `));
      expect(about.length, `${path} in ${told}`).toBe(warning === undefined ? 0 : 1);
      if (warning !== undefined) expect(about[0]).toContain(warning);
    }
    const refused = lines.filter((line) => line.includes(BROKEN.path));
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatch(/is not valid UTF-8 at byte \d+/);
  });

  test("names a text that is too large, how large one may be, and what to do", async () => {
    const lines = (await outcomeOf(way)).told
      .split("\n")
      .filter((line) => line.includes(LARGE.path));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`${DOCUMENT_MAX_BYTES} bytes`));
    expect(lines[0]).toMatch(/split .* into several files/i);
  });
});

/** Files that a folder may have besides, each with what is stored of it. */
const CONVERTED: Readonly<Record<string, { file: string; bytes: string; content: string }>> = {
  "page.html.md": { file: "page.html.md", bytes: "# Mine\n", content: "# Mine\n" },
  "page.html.md.md": {
    file: "page.html",
    bytes: "\ufeff<h1>Page</h1><p>Text.</p>",
    content: "# Page\n\nText.",
  },
  "guide.adoc.md": { file: "guide.adoc", bytes: "= Guide\n\nText.\n", content: "# Guide\n\nText." },
  "LICENSE.txt": { file: "LICENSE", bytes: "Do as you like.\n", content: "Do as you like.\n" },
};

test("a folder's files of other formats are stored alike by import and sync, and removed with it", async () => {
  const folder = temporaryFolder("formats");
  for (const { file, bytes } of Object.values(CONVERTED)) writeFileSync(join(folder, file), bytes);
  const formats = ["--html", "--asciidoc", "--text"];
  const commands = (slug: string) => [
    { args: ["import", "--markdown", folder, "--project", slug, "--prune", "--yes"], env },
    { args: ["sync", folder, "--project", slug, "--url", api.url, "--key", key], env: {} },
  ];
  const expected = Object.fromEntries(
    Object.entries(CONVERTED).map(([path, { content }]) => [path, content]),
  );
  const stored = async (project: TestProject) =>
    Object.fromEntries((await storedIn(project)).map(({ path, content }) => [path, content]));
  const projects = [await newProject(), await newProject()];
  const runs = projects.map(
    ({ slug }, way) => commands(slug)[way] as { args: string[]; env: Record<string, string> },
  );
  for (const [i, { args, env: variables }] of runs.entries()) {
    const { status, stderr } = await callCommand([...args, ...formats], { env: variables });
    expect(status, stderr).toBe(0);
    expect(await stored(projects[i] as TestProject)).toEqual(expected);
  }
  for (const { file } of Object.values(CONVERTED)) rmSync(join(folder, file));
  writeFileSync(join(folder, "left.md"), "left");
  for (const [i, { args, env: variables }] of runs.entries()) {
    const { status, stderr } = await callCommand([...args, ...formats], { env: variables });
    expect(status, stderr).toBe(0);
    expect(await stored(projects[i] as TestProject)).toEqual({ "left.md": "left" });
  }
});

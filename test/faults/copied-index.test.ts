import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { embed } from "../../src/embed/embedders/feature-hashing.ts";
import { startApi, type TestApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { untilReady } from "../../support/api/world.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const QUESTIONS = ["how does a follower read changes", "isolation of transactions", "page cache"];
const FOLDERS = ["concepts", "storage"];
const DIMENSION = 768;
/** What the database says of each chunk since the copy was made. The change log has no entry for it. */
const REWRITTEN = "as the database has it now";

/** The command of docs/nodes.md that copies indexes. */
function documentedCommand(): string {
  const text = readFileSync(join(PROJECT_ROOT, "docs", "nodes.md"), "utf8");
  return /^cp -a .*$/m.exec(text)?.[0] as string;
}

function copyIndex(from: string): string {
  const to = dataFolder();
  mkdirSync(to, { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "", FIRST: from, SECOND: to };
  const { success, stderr } = Bun.spawnSync(["sh", "-ec", documentedCommand()], { env });
  expect(success, stderr.toString()).toBe(true);
  return to;
}

const saved = dataFolder();
const first = await startApi({ env: { DATA_DIR: saved } });
const { sql, databaseUrl } = first;
let key = "";
for (const [i, folder] of FOLDERS.entries()) {
  const { status, stderr } = await callCommand(
    ["import", "--markdown", `fixtures/docs/${folder}`, "--project", "handbook"].concat(
      i === 0 ? ["--key"] : [],
    ),
    { env: { DATABASE_URL: databaseUrl } },
  );
  if (status !== 0) throw new Error(stderr);
  key = /shown only once: (\S+)/.exec(stderr)?.[1] ?? key;
}
const headers = { "x-api-key": key, "content-type": "application/json" };

async function post(url: string, path: string, body: object): Promise<Json> {
  const answer = await fetch(`${url}/projects/handbook/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return await answer.json();
}

/** The best passages and files of each question, within a filter and without. */
async function answersOf({ url }: TestApi): Promise<Json[]> {
  const answers: Json[] = [];
  for (const query of QUESTIONS) {
    const filter = { path: { $glob: "*log*" } };
    for (const body of [{ query }, { query, filter }]) {
      answers.push((await post(url, "retrieve", body)).data);
      answers.push((await post(url, "knowledge/lookup", body)).data);
    }
  }
  return answers;
}

/** The contents of the chunks that a vector search finds. */
async function contentsOf({ url }: TestApi): Promise<string[]> {
  const question = { vector: [...embed("changes", DIMENSION)], dimension: DIMENSION };
  const body = { ...question, threshold: 0, limit: 100 };
  const { data } = await post(url, "environments/production/search", body);
  return data.map(({ chunk }: Json) => chunk.content);
}

async function paths({ url }: TestApi, query: string): Promise<string[]> {
  const { data } = await post(url, "knowledge/lookup", { query });
  return data.map(({ path }: Json) => path);
}

async function untilComplete({ url }: TestApi): Promise<void> {
  await until("the handbook is indexed with its embeddings", async () => {
    await post(url, "knowledge/lookup", {});
    const answer = await fetch(`${url}/projects/handbook/index-state`, { headers });
    const { complete, embeddings_waiting } = (await answer.json()) as Json;
    return complete && embeddings_waiting === 0;
  });
}

/** Starts a node beside the first one. */
async function startNode(folder: string): Promise<TestApi> {
  const node = await startApi({ beside: first, env: { DATA_DIR: folder } });
  await untilReady(node.url);
  await untilComplete(node);
  return node;
}

await untilComplete(first);
const before = { answers: await answersOf(first), contents: await contentsOf(first) };
await first.stop();
const [{ id }] = await sql<[{ id: string }]>`SELECT id FROM projects WHERE slug = 'handbook'`;
await sql`UPDATE chunks SET content = ${REWRITTEN} WHERE project_id = ${id}`;

describe("a new node with a copy of the index of another one", () => {
  test("answers as that one did, without reading the chunks again", async () => {
    const node = await startNode(copyIndex(saved));
    expect(before.contents).not.toContain(REWRITTEN);
    expect(await contentsOf(node)).toEqual(before.contents);
    expect(await answersOf(node)).toEqual(before.answers);
    await node.stop();
  });

  test("reads what has changed since", async () => {
    const later = { record: "file", project: "handbook", path: "later.md", content: "# Marmalade" };
    const stdin = JSON.stringify({ ...later, environments: ["production"] });
    const env = { DATABASE_URL: databaseUrl };
    expect((await callCommand(["import", "-"], { env, stdin })).status).toBe(0);
    const node = await startNode(copyIndex(saved));
    expect(await paths(node, "marmalade")).toEqual(["later.md"]);
    const contents = await contentsOf(node);
    expect(contents).toContain("# Marmalade");
    expect(contents).not.toContain(REWRITTEN);
    await node.stop();
  });

  test("does not believe a torn copy, whose manifest is newer than the rest", async () => {
    const manifest = join("index", "slot-0", id, "manifest.json");
    const later = copyIndex(saved);
    await (await startNode(later)).stop();
    const folder = copyIndex(saved);
    const seqOf = (copy: string) =>
      JSON.parse(readFileSync(join(copy, manifest), "utf8")).contents.seq;
    expect(seqOf(later)).toBeGreaterThan(seqOf(folder));
    cpSync(join(later, manifest), join(folder, manifest));
    const node = await startNode(folder);
    expect(await paths(node, "marmalade")).toEqual(["later.md"]);
    const contents = await contentsOf(node);
    expect(contents).toContain("# Marmalade");
    expect(new Set(contents)).toEqual(new Set(["# Marmalade", REWRITTEN]));
    await node.stop();
  });
});

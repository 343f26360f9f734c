import { describe, expect, test } from "bun:test";
import { Drain } from "../../src/content/embeddings/queue/drain.ts";
import { readTextChunks } from "../../src/content/embeddings/store.ts";
import type { ProjectEmbedder } from "../../src/embed/embedders/project-embedders.ts";
import { TextBatches, TextsAtFault } from "../../src/embed/embedders/text-batches.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import { type Caller, sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();

/** Longer texts are refused, and embedded in parts. */
const PART_CHARS = 200;
const PARTS = 1_000;
const REQUESTS = 2;

/** An embedder of this test alone, whose endpoint answers the parts of long texts when it is told to. */
function openEmbedder() {
  const sent: string[] = [];
  const held: (() => void)[] = [];
  const batches = new TextBatches(async (inputs) => {
    const tooLong = [...inputs.entries()].filter(([, text]) => text.length > 2 * PART_CHARS);
    if (tooLong.length > 0) {
      const fits = new Map(tooLong.map(([i]) => [i, PART_CHARS]));
      throw new TextsAtFault("too long", "refused", { fits });
    }
    sent.push(...inputs);
    if (inputs.some(isLong)) await new Promise<void>((resolve) => held.push(resolve));
    return inputs.map(() => new Float32Array(768).fill(1));
  });
  const name = `held-${crypto.randomUUID()}`;
  const embedder: ProjectEmbedder = {
    name,
    fingerprint: `${name}:model:768`,
    concurrency: REQUESTS,
    batchInputs: 32,
    embedPassages: (passages, timeoutMs, onOutcomes, inTurn) =>
      batches.embed(passages, { timeoutMs, onOutcomes, inTurn }),
    embedQuery: () => Promise.reject(new Error("not here")),
  };
  return { embedder, sent, held };
}

const isLong = (text: string) => text.includes("long ");
const longText = "long ".repeat((PARTS * PART_CHARS) / "long ".length);

/** A project, whose file waits for the embedder. */
async function projectOf(fingerprint: string, file: string, content: string, user?: Caller) {
  const owner = user ?? (await api.user());
  const json = { name: "P", slug: `p-${crypto.randomUUID()}` };
  const { body: project } = await api.post("/projects", json, owner);
  await api.sql`UPDATE projects SET embedder = ${fingerprint} WHERE id = ${project.id}`;
  const { errors } = await importsOf(api, owner).report(project as TestProject, [
    {
      record: "file",
      path: file,
      environments: ["production"],
      chunks: [{ content }],
    },
  ]);
  expect(errors).toEqual([]);
  return project as TestProject;
}

async function missing({ id }: TestProject): Promise<number> {
  const [row] = await api.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM chunks WHERE project_id = ${id} AND embedding IS NULL`;
  return row?.count ?? 0;
}

test("a pass ends with the text that reaches its size, and has at least one", async () => {
  const owner = await api.user();
  const project = await projectOf("other:model:768", "a.txt", "x".repeat(1_000_000), owner);
  await importsOf(api, owner).report(project, [
    {
      record: "file",
      path: "b.txt",
      environments: ["production"],
      chunks: [400_000, 700_000, 1, 1].map((chars) => ({ content: "y".repeat(chars) })),
    },
  ]);
  const rows = await api.sql<{ id: string }[]>`
    SELECT file_version_id AS id FROM chunks WHERE project_id = ${project.id}
    GROUP BY file_version_id, file_path ORDER BY file_path`;
  const [a = "", b = ""] = rows.map(({ id }) => id);
  const lengths = async (versions: string[], limit: number) => {
    const chunks = await readTextChunks(api.sql, versions, limit);
    return chunks.map(({ passage }) => passage.content.length);
  };
  expect(await lengths([a, b], 32)).toEqual([1_000_000]);
  expect(await lengths([b, a], 32)).toEqual([400_000, 700_000]);
  expect(await lengths([b, a], 1)).toEqual([400_000]);
});

describe("a text of many parts", () => {
  test("does not hold up the file of another tenant, which came after it", async () => {
    const { embedder, sent, held } = openEmbedder();
    const drain = new Drain(api.sql, createLog("silent"), embedder, api.sql);
    const mine = await projectOf(embedder.fingerprint, "long.txt", longText);
    void drain.run();
    await until("a part of the long text is sent", () => held.length === 1);
    const theirs = await projectOf(embedder.fingerprint, "short.txt", "A short text.");
    void drain.run();
    await until("the short text is embedded", async () => (await missing(theirs)) === 0);
    expect(sent.filter(isLong)).toHaveLength(1);
    expect([await missing(mine), drain.isRunning]).toEqual([1, true]);
    while (drain.isRunning) {
      held.shift()?.();
      await Bun.sleep(0);
    }
    expect(await missing(mine)).toBe(0);
  });

  test("gives way to another tenant after each part, also where such texts take all requests", async () => {
    const { embedder, sent, held } = openEmbedder();
    const drain = new Drain(api.sql, createLog("silent"), embedder, api.sql);
    const [long, user] = [[] as TestProject[], await api.user()];
    for (let i = 0; i < 2 * REQUESTS; i++) {
      long.push(await projectOf(embedder.fingerprint, "long.txt", longText, user));
    }
    void drain.run();
    await until("all requests have parts of long texts", () => held.length === REQUESTS);
    const theirs = await projectOf(embedder.fingerprint, "short.txt", "A short text.");
    void drain.run();
    await until("the short text is embedded", async () => {
      held.shift()?.();
      return (await missing(theirs)) === 0;
    });
    expect(sent.filter(isLong).length).toBeLessThan(PARTS);
    for (const { id } of long) await api.sql`DELETE FROM embedding_queue WHERE project_id = ${id}`;
    while (drain.isRunning) {
      held.shift()?.();
      await Bun.sleep(0);
    }
  });
});

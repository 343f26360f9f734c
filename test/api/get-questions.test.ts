import { describe, expect, test } from "bun:test";
import { transaction } from "../../src/db/transaction.ts";
import { WEAK_SCORE } from "../../src/domain/limits.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import type { QuestionDay } from "../../src/ops/observability/question-counts.ts";
import { addQuestions } from "../../src/query/questions/queries.ts";
import { QuestionLog } from "../../src/query/questions/question-log.ts";
import { sharedApi, startApi, type TestProject } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const api = await sharedApi();
const owner = await api.user();
const { report } = importsOf(api, owner);
const embedding = base64Of(randomVector(DIMENSION, 1));

async function filled(): Promise<TestProject> {
  const project = await api.project(owner);
  const files = ["a.md", "b.md"].map((path) => ({
    record: "file",
    path,
    content: "# Snapshots",
    environments: ["production"],
    chunks: [{ index: 0, content: "Snapshots", embedding }],
  }));
  await report(project, [PRODUCTION, ...files]);
  // Lists without a query are not counted, so they can wait for the files.
  const lookup = `/projects/${project.slug}/knowledge/lookup`;
  await until(
    "all files are listed",
    async () => (await api.post(lookup, {}, owner)).body.data.length === files.length,
  );
  return project;
}

const project = await filled();
const pathOf = ({ slug }: TestProject) => `/projects/${slug}/questions`;
const path = pathOf(project);
const askAt = (node: typeof api, { slug }: TestProject, query: string, body = {}) =>
  node.post(`/projects/${slug}/retrieve`, { query, mode: "keyword", ...body }, owner);
const ask = (query: string, body = {}) => askAt(api, project, query, body);
const today = () => new Date().toISOString().slice(0, 10);

const add = (days: QuestionDay[]) => transaction(api.sql, (tx) => addQuestions(tx, days));

describe("GET /projects/{project_reference}/questions", () => {
  test("owners and editors see how often what was asked, what had no hits, and how long answers took", async () => {
    await ask("snapshots");
    await ask("SnapShots ");
    await ask("zebra\0 \ud800");
    await api.post(`/projects/${project.slug}/knowledge/lookup`, { query: "zebras" }, owner);
    const editor = await api.user();
    await api.join(editor, project, "editor");
    const { status, body } = await api.get(path, editor);
    expect(status).toBe(200);
    const zebra = { question: "zebra \ufffd", asked: 1, without_hits: 1 };
    const zebras = { question: "zebras", asked: 1, without_hits: 1 };
    expect(body).toEqual({
      counted: true,
      asked: 4,
      without_hits: 2,
      p50_ms: expect.any(Number),
      p95_ms: expect.any(Number),
      p99_ms: expect.any(Number),
      frequent: [{ question: "snapshots", asked: 2, without_hits: 0 }, zebra, zebras],
      unanswered: [zebra, zebras],
      days: [
        {
          day: today(),
          asked: 4,
          without_hits: 2,
          p50_ms: expect.any(Number),
          p95_ms: expect.any(Number),
          p99_ms: expect.any(Number),
        },
      ],
    });
    expect(body.days[0].p50_ms).toBeLessThanOrEqual(body.days[0].p99_ms);
  });

  test("an answer whose hits are all weak counts as one without hits, and another does not", async () => {
    const own = await filled();
    const body = { mode: "hybrid", dimension: DIMENSION, threshold: 0 };
    const far = { ...body, vector: base64Of(randomVector(DIMENSION, 2)) };
    const weak = await askAt(api, own, "giraffe", far);
    expect(weak.body.data.length).toBeGreaterThan(0);
    expect(weak.body.data[0].score).toBeLessThan(WEAK_SCORE);
    const grouped = await askAt(api, own, "giraffe", { ...far, group_by: "file" });
    expect(grouped.body.data[0].score).toBeLessThan(WEAK_SCORE);
    const good = await askAt(api, own, "snapshots", { ...body, vector: embedding });
    expect(good.body.data[0].score).toBeGreaterThan(WEAK_SCORE);
    expect((await api.get(pathOf(own), owner)).body).toMatchObject({
      asked: 3,
      without_hits: 2,
      frequent: [
        { question: "giraffe", asked: 2, without_hits: 2 },
        { question: "snapshots", asked: 1, without_hits: 0 },
      ],
      unanswered: [{ question: "giraffe" }],
    });
  });

  test("later pages, parts, vectors, refusals and lists without a query are not counted", async () => {
    const before = (await api.get(path, owner)).body.asked;
    const first = await ask("snapshots", { limit: 1 });
    await ask("snapshots", { cursor: first.body.page_info.next });
    const lookup = `/projects/${project.slug}/knowledge/lookup`;
    await api.post(lookup, { query: "snapshots", shard_count: 2, shard_index: 1 }, owner);
    await api.post(lookup, {}, owner);
    const vector = { vector: embedding, dimension: DIMENSION };
    await api.post(`/projects/${project.slug}/environments/production/search`, vector, owner);
    await api.post(`/projects/${project.slug}/retrieve`, vector, owner);
    expect((await ask("snapshots", { limit: 0 })).status).toBe(400);
    expect((await api.get(path, owner)).body.asked).toBe(before + 1);
  });

  test("days beside those that are asked for, and other projects, do not count", async () => {
    const other = await filled();
    const of = (day: string, question: string) => ({
      project: other.id,
      day,
      asked: 3,
      without_hits: 0,
      durations: [3],
      questions: new Map([[question, { asked: 3, without_hits: 0 }]]),
    });
    const ago = (days: number) =>
      new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    await add([of(ago(1), "yesterday"), of(ago(20), "earlier")]);
    const asked = async (query: string) => (await api.get(pathOf(other) + query, owner)).body;
    expect(
      (await asked("")).frequent.map(({ question }: { question: string }) => question),
    ).toEqual(["yesterday"]);
    expect((await asked("?days=30")).asked).toBe(6);
    expect((await asked("?days=1")).days).toEqual([]);
  });

  test("of a day the most frequent thousand are kept, also when others come first", async () => {
    const other = await filled();
    const tally = (asked: number) => ({ asked, without_hits: 0 });
    const batch = (from: number, asked: number) => ({
      project: other.id,
      day: today(),
      durations: [1],
      ...tally(600),
      questions: new Map(Array.from({ length: 600 }, (_, i) => [`q${from + i}`, tally(asked)])),
    });
    await add([batch(0, 1)]);
    await add([batch(1_000, 2)]);
    const rows = await api.sql`
      SELECT asked::int AS asked, count(*)::int AS questions FROM questions
      WHERE project_id = ${other.id} GROUP BY 1 ORDER BY 1`;
    expect([...rows]).toEqual([
      { asked: 1, questions: 400 },
      { asked: 2, questions: 600 },
    ]);
  });
});

describe("what was counted", () => {
  test("outlasts the service that counted it", async () => {
    const other = await filled();
    const node = await startApi({ beside: api });
    await until(
      "the other service finds both files",
      async () => (await askAt(node, other, "snapshots")).body.data?.length === 2,
    );
    await askAt(node, other, "nothing like it");
    await node.stop();
    const { body } = await api.get(pathOf(other), owner);
    expect(body.unanswered).toEqual([{ question: "nothing like it", asked: 1, without_hits: 1 }]);
  });

  test("while the database was away is stored once it is back", async () => {
    let isAway = true;
    const sql = new Proxy(api.sql, {
      get: (of, name) =>
        name === "begin" && isAway
          ? () => Promise.reject(new Error("away"))
          : Reflect.get(of, name),
    });
    const other = await filled();
    const log = new QuestionLog(sql, createLog("fatal"), true);
    log.counts?.add(other.id, "first", 1, 1);
    await expect(log.store()).rejects.toThrow("away");
    await log.store().catch(() => {});
    log.counts?.add(other.id, "second", 1, 1);
    isAway = false;
    await log.close();
    expect((await api.get(pathOf(other), owner)).body.asked).toBe(2);
  });

  test("of a project that is deleted is gone, and keeps nothing of others from being stored", async () => {
    const other = await filled();
    await askAt(api, other, "snapshots");
    await api.get(pathOf(other), owner);
    await askAt(api, other, "snapshots");
    await ask("after all");
    const { status } = await api.send("DELETE", `/projects/${other.slug}?confirm=${other.slug}`, {
      as: owner,
    });
    expect(status).toBe(204);
    const { body } = await api.get(path, owner);
    expect(body.frequent).toContainEqual({ question: "after all", asked: 1, without_hits: 1 });
    for (const table of ["questions", "question_days"]) {
      const rows = await api.sql`SELECT 1 FROM ${api.sql(table)} WHERE project_id = ${other.id}`;
      expect(rows.length, table).toBe(0);
    }
  });

  test("is deleted by a service that does not count, which says so", async () => {
    await ask("snapshots");
    await api.get(path, owner);
    const node = await startApi({ beside: api, env: { QUESTION_STATISTICS: "off" } });
    await askAt(node, project, "snapshots");
    const { status, body } = await node.get(path, owner);
    expect(status).toBe(200);
    expect(body).toEqual({
      counted: false,
      asked: 0,
      without_hits: 0,
      frequent: [],
      unanswered: [],
      days: [],
      p50_ms: null,
      p95_ms: null,
      p99_ms: null,
    });
    await until(
      "no day of questions is stored",
      async () => (await api.sql`SELECT 1 FROM question_days LIMIT 1`).length === 0,
    );
  });
});

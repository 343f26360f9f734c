import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bodiesCommand, writeBodies } from "../../../bench/load/bodies.ts";
import { type LoadOptions, loadCommand } from "../../../bench/load/options.ts";
import { statusOf } from "../../../bench/load/program.ts";
import { main } from "../../../bench/load/run.ts";
import { startApi } from "../../../support/api/api.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";
import { lacks, programPath } from "../../../support/programs.ts";
import { makeVectors } from "../../../support/vectors.ts";
import { inProcess } from "./in-process.ts";

const [DIMENSION, ROWS, QUERIES] = [768, 60, 12];
const folder = temporaryFolder("load");
const api = await startApi({ env: { SEARCH_WORKERS: "1" } });
const { key } = await api.key(await api.user());
const target = ["--url", api.url, "--key", key, "--project", "given"];

/** Runs the load tester in this process; every measurement takes a moment. */
async function load(...args: string[]) {
  const { context, written } = inProcess();
  const status = await statusOf(loadCommand(), args, context, (options: LoadOptions) =>
    main({ ...options, duration: 0.1, warmup: 0 }, context),
  );
  return { status, stdout: written.out, stderr: written.errors };
}

test("bench load imports data, measures recall against a given truth, and writes a report that is one file", async () => {
  const vectors = makeVectors("text", ROWS, DIMENSION, 7);
  const [data, queries, truth] = ["base.f32", "queries.f32", "truth.ivecs"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await Bun.write(data, vectors);
  await Bun.write(queries, vectors.subarray(0, QUERIES * DIMENSION));
  // The best of a row of the data is the row itself.
  const rows = Array.from({ length: QUERIES }, (_, row) => [1, row]);
  await Bun.write(truth, Int32Array.from(rows.flat()));
  const report = join(folder, "report.html");
  const { status, stdout, stderr } = await load(
    ...target,
    ...["--data", data, "--dimension", String(DIMENSION), "--queries", queries, "--truth", truth],
    ...["--sweep", "20,40", "--limits", "1", "--report", report, "--json"],
  );
  expect(status, stderr).toBe(0);
  const { target: shown, recall, truth: from, runs } = JSON.parse(stdout);
  expect(shown).toMatchObject({ project: "given", dimension: DIMENSION, vectors: ROWS });
  expect(from).toBe(truth);
  expect(recall).toMatchObject([
    { limit: 10, recall: 1, queries: QUERIES },
    { limit: 1, recall: 1, queries: QUERIES },
  ]);
  expect(runs).toMatchObject([
    { arrival: { kind: "closed" }, limit: 10, errors: {} },
    { arrival: { rate: 20 }, limit: 10 },
    { arrival: { rate: 40 }, limit: 10 },
    { arrival: { kind: "closed" }, limit: 1 },
  ]);
  const html = readFileSync(report, "utf8");
  expect(html.match(/<svg/g)?.length).toBeGreaterThan(3);
  expect(html).not.toContain(key);
  expect(html).not.toMatch(/<(script|link|img|iframe|object)\b|\b(src|href)=|url\(|@import/);
});

test("bench load explains a wrong option and a service that does not answer", async () => {
  const wrong = await load("--bogus");
  expect(wrong).toMatchObject({ status: 2, stdout: "" });
  expect(wrong.stderr).toContain("unknown option '--bogus'");
  const away = await load("--key", "k", "--url", "http://127.0.0.1:9", "--query-count", "1");
  expect(away).toMatchObject({ status: 1, stdout: "" });
  expect(away.stderr).toContain("start the service, or name its address with --url");
});

test.skipIf(lacks("wrk"))(
  "wrk sends the bodies that bench load/bodies has written, and the service answers them",
  async () => {
    const { context, written } = inProcess();
    const args = [...target, "--generate", "text", "--query-count", "3", "--out", folder];
    expect(await statusOf(bodiesCommand(), args, context, writeBodies)).toBe(0);
    expect(written.out).not.toContain(key);
    const url = `${api.url}/projects/given/environments/production/search`;
    expect(written.out).toContain(url);
    const child = Bun.spawn(
      [programPath("wrk"), "-t1", "-c2", "-d1s", "-s", "bench/wrk/search.lua", url],
      {
        cwd: PROJECT_ROOT,
        env: { BODIES: join(folder, "bodies.ndjson"), TESSERA_API_KEY: key },
        stdout: "pipe",
      },
    );
    const printed = await child.stdout.text();
    expect(await child.exited).toBe(0);
    expect(printed).toMatch(/^refused with 503: \d+, other statuses: 0$/m);
  },
);

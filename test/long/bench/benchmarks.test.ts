import { describe, expect, test } from "bun:test";
import type { BenchContext } from "../../../bench/harness/context.ts";
import { helpText, type Values } from "../../../bench/harness/options.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { runCommand } from "../../../support/processes/process.ts";
import { lacks } from "../../../support/programs.ts";
import { inProcess } from "./in-process.ts";

const JUDGED = "test/fixtures/judged";

/** Options with which each benchmark runs in a few seconds. The load tester has tests of its own. */
const SMALL: Readonly<Record<string, Values>> = {
  "growth/run": { documents: "20", requests: 10, rounds: 1 },
  "import/run": { chunks: 200, dimension: 768 },
  "knowledge/half-load": { clients: 2, seconds: 0.5, writes: 10 },
  "knowledge/modes": { requests: 10, rounds: 1, clients: "1,2" },
  "knowledge/questions": { queries: 3 },
  "knowledge/relevance": { queries: 5, judged: JUDGED, dimension: 4 },
  "micro/shards": { vectors: 600, shards: "600,250", queries: 10 },
  "overload/floods": { chunks: 200, clients: 2, rate: 50, seconds: 1, floods: "search;metrics" },
  "overload/run": { chunks: 200, dimension: 768, seconds: 0.5, clients: 20, shares: "0.8,5" },
  "overload/writes": { seconds: 0.5, bytes: 20_000 },
  "peers/run": { vectors: 100, queries: 5, clients: 2, seconds: 0.5, rounds: 1, peers: "usearch" },
  "recall/run": { vectors: "200", count: 5 },
  "request-time/run": { chunks: 100, requests: 10, rounds: 1 },
  "rest/run": { seconds: 0.5, rounds: 1 },
  "search/filters": { chunks: 200, queries: 4, requests: 10, rounds: 1, cold: 3, changes: 2 },
  "search/releases": { chunks: 100, dimension: 768, releases: 5, settle: 0.6 },
  "search/run": { chunks: 400, dimension: 768, queries: 10, requests: 40, rounds: 1 },
  "search/visibility": { chunks: 300, dimension: 768, transaction: 100, after: 0.1 },
  "soak/run": { minutes: 0.015, sample: 0.1, projects: 2, files: 10 },
};

/** The same for those that need a program that npm does not bring. */
const WITH_REDIS: Readonly<Record<string, Values>> = {
  "nodes/outages": { chunks: 40, away: 0.1, after: 1 },
  "webhooks/throughput": { seconds: 0.5, rounds: 1 },
};
const WITH_NGINX: Readonly<Record<string, Values>> = {
  "nodes/failures": { projects: 3, chunks: 20, nodes: 2, rate: 20, seconds: 1, part: 1 },
};
const WITH_BROWSER: Readonly<Record<string, Values>> = {
  "console/first-paint": { rounds: 1, pages: "search,a guide" },
};
const WITH_RUNTIME: Readonly<Record<string, Values>> = {
  "embedding/run": {
    batches: "1,4",
    threads: "1",
    texts: 8,
    words: 4,
    files: 20,
    puts: 1,
    rate: 10,
    seconds: 0.5,
  },
};

const ALL = { ...SMALL, ...WITH_REDIS, ...WITH_NGINX, ...WITH_BROWSER, ...WITH_RUNTIME };

interface Benchmark {
  readonly OPTIONS: Values;
  run(options: Values, context: BenchContext): Promise<unknown>;
}

const load = (name: string): Promise<Benchmark> => import(`../../../bench/${name}.ts`);

/** Runs a benchmark in this process. Its figures are those of a busy machine, so nothing is asserted about them. */
async function runSmall(name: string, options: Values): Promise<void> {
  const { OPTIONS, run } = await load(name);
  const { context, written } = inProcess();
  await run({ ...OPTIONS, ...options }, context);
  expect(written.out).not.toBe("");
  expect(written.errors).toBe("");
}

describe("each benchmark ends with figures", () => {
  test.each(Object.entries(SMALL))("%s", runSmall);
  test.skipIf(lacks("redis-server")).each(Object.entries(WITH_REDIS))("%s", runSmall);
  test.skipIf(lacks("nginx")).each(Object.entries(WITH_NGINX))("%s", runSmall);
  test.skipIf(lacks("chromium")).each(Object.entries(WITH_BROWSER))("%s", runSmall);
  test.skipIf(lacks("onnxruntime")).each(Object.entries(WITH_RUNTIME))("%s", runSmall);
});

describe("the command line of benchmarks", () => {
  test("lists every benchmark, each with what it measures", async () => {
    const lines = (await callCommand(["bench"])).stdout.trimEnd().split("\n");
    const names = lines.map((line) => line.split(" ", 1)[0] ?? "");
    expect(names).toEqual([...Object.keys(ALL), "load/bodies", "load/run"].sort());
    for (const line of lines) expect(line).toMatch(/^\S+ {2,}[A-Z].+/);
  });

  test("has a help for each that names all options", async () => {
    for (const name of Object.keys(ALL)) {
      const help = helpText(`bench/${name}.ts`);
      expect(help).toContain(`bun bench/${name}.ts`);
      for (const option of Object.keys((await load(name)).OPTIONS)) {
        expect(help, name).toMatch(new RegExp(`--(no-)?${option}\\b`));
      }
    }
  });

  test("runs one as a program, and explains wrong options with its help", async () => {
    const args = ["--vectors", "100", "--shards", "100", "--queries", "5"];
    const { status, stdout, stderr } = await runCommand(["bench", "micro/shards", ...args]);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^\|.*\|$/m);
    const wrong = await runCommand(["bench", "rest/run", "--bogus"]);
    expect(wrong.status).not.toBe(0);
    expect(wrong.stderr).toContain("Unknown option '--bogus'");
    expect(wrong.stderr).toContain(helpText("bench/rest/run.ts"));
    expect(wrong.stderr).not.toContain("at readOptions");
  });
});

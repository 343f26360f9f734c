import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type LoadOptions, loadCommand } from "../../../bench/load/options.ts";
import { statusOf } from "../../../bench/load/program.ts";
import { main } from "../../../bench/load/run.ts";
import { startApi } from "../../../support/api/api.ts";
import type { Json } from "../../../support/api/openapi.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { openPage, startBrowser } from "../../../support/processes/browser.ts";
import { runCommand } from "../../../support/processes/process.ts";
import { lacks } from "../../../support/programs.ts";
import { makeVectors } from "../../../support/vectors.ts";
import { inProcess } from "./in-process.ts";
import { found, startStub } from "./load-stub.ts";

// A key of the caller's environment would be used where a test gives none.
delete process.env["TESSERA_API_KEY"];

const DIMENSION = 768;
const ROWS = 120;
const QUERIES = 12;
const BEST = 10;
const folder = temporaryFolder("load");
const vectors = makeVectors("text", ROWS + QUERIES, DIMENSION, 7);
const rowAt = (row: number) => vectors.subarray(row * DIMENSION, (row + 1) * DIMENSION);

const words = (numbers: ArrayLike<number>) => Buffer.from(Int32Array.from(numbers).buffer);
const floats = (row: number) => Buffer.from(rowAt(row).slice().buffer);

/** The rows with the highest cosine; all vectors have unit length. */
function bestRows(query: number): number[] {
  const cosine = (row: number) =>
    rowAt(row).reduce((sum, element, i) => sum + element * (rowAt(query)[i] as number), 0);
  const scored = Array.from({ length: ROWS }, (_, row) => ({ row, score: cosine(row) }));
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, BEST)
    .map(({ row }) => row);
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
const file = async (name: string, content: Uint8Array) => {
  const path = join(folder, name);
  await Bun.write(path, content);
  return path;
};

const data = await file("base.f32", Buffer.concat(numbers(0, ROWS).map(floats)));
const queries = await file(
  "queries.fvecs",
  Buffer.concat(
    numbers(ROWS, QUERIES).map((row) => Buffer.concat([words([DIMENSION]), floats(row)])),
  ),
);
const truth = await file(
  "truth.ivecs",
  Buffer.concat(numbers(ROWS, QUERIES).map((row) => words([BEST, ...bestRows(row)]))),
);

/** Runs the load tester in this process; every measurement takes so many seconds. */
async function load(args: readonly string[], seconds = 0.2) {
  const { context, written } = inProcess();
  const status = await statusOf(loadCommand(), args, context, (options: LoadOptions) =>
    main({ ...options, duration: seconds, warmup: 0 }, context),
  );
  return { status, stdout: written.out, stderr: written.errors };
}

async function loadJson(args: readonly string[], seconds?: number): Promise<Json> {
  const { status, stdout, stderr } = await load([...args, "--json"], seconds);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** Arguments for a stand-in, which has no data: one query, nothing to wait for, no recall. */
const stubbed = (url: string, ...args: string[]) => [
  ...["--url", url, "--key", "k", "--queries", queries, "--no-recall", "--no-wait"],
  ...args,
];

describe("bench load and a service that stalls", () => {
  const STALL_MS = 500;
  const USUAL_MS = 2;
  /** Three times as long, so that a third of it is stalled. */
  const SECONDS = 1.5;
  /** After the first searches all are held until the stall is over. */
  const stalling = () => {
    let first: number | undefined;
    return startStub(async (search) => {
      const now = performance.now();
      if (search > 50) first ??= now;
      const isStalled = first !== undefined && now < first + STALL_MS;
      await Bun.sleep(isStalled ? (first as number) + STALL_MS - now : USUAL_MS);
      return found();
    });
  };

  test("an open loop counts the stall in every request that was due meanwhile", async () => {
    const { runs } = await loadJson(stubbed(stalling(), "--rate", "200"), SECONDS);
    const [{ response, answered, arrival }] = runs;
    expect(arrival).toMatchObject({ kind: "open", rate: 200 });
    expect(answered).toBe(300);
    // A third of the requests was due during the stall, and waited for half of it on average.
    expect(response.p90).toBeGreaterThan(STALL_MS * 0.4);
    expect(response.p99).toBeGreaterThan(STALL_MS * 0.8);
  });

  test("requests that wait for a free connection wait on the clock, too", async () => {
    const args = ["--rate", "200", "--connections", "1"];
    const { runs } = await loadJson(stubbed(stalling(), ...args), SECONDS);
    const [{ response, service }] = runs;
    expect(response.p90).toBeGreaterThan(STALL_MS * 0.4);
    // The service itself was slow once: what it needs per request does not show the stall.
    expect(service.p90).toBeLessThan(STALL_MS * 0.4);
  });

  test("a closed loop hides the stall, which is why its percentiles are not comparable", async () => {
    const { runs } = await loadJson(stubbed(stalling(), "--clients", "1"), SECONDS);
    const [{ response }] = runs;
    expect(response.max).toBeGreaterThan(STALL_MS * 0.8);
    expect(response.p90).toBeLessThan(STALL_MS * 0.4);
  });
});

describe("bench load and a service that fails", () => {
  test("answers other than 200 are counted by status, and are no throughput", async () => {
    const url = startStub((search) =>
      search > 0 && search % 4 === 0 ? new Response("{}", { status: 503 }) : found(),
    );
    const { runs } = await loadJson(stubbed(url, "--rate", "100"), 1);
    const [{ answered, errors, throughput }] = runs;
    expect(errors).toEqual({ 503: 25 });
    expect(answered).toBe(75);
    expect(throughput).toBeCloseTo(75);
  });

  test("requests without an answer count with the time that they have waited", async () => {
    const url = startStub((search) => (search > 5 ? new Promise(() => {}) : found()));
    const { runs } = await loadJson(stubbed(url, "--rate", "20", "--timeout", "1s"), 1);
    const [{ answered, errors, response }] = runs;
    expect(answered + errors.timeout).toBe(20);
    expect(errors.timeout).toBeGreaterThan(0);
    expect(response.p99).toBeGreaterThan(900);
  });
});

describe("bench load and the real service", async () => {
  const api = await startApi({ env: { SEARCH_WORKERS: "1" } });
  const owner = await api.user();
  const { key } = await api.key(owner);
  const target = ["--url", api.url, "--key", key];

  test("imports data, waits for the index, and measures recall against a given truth", async () => {
    const {
      target: shown,
      recall,
      truth: from,
      runs,
    } = await loadJson([
      ...target,
      ...["--project", "given", "--data", data, "--dimension", String(DIMENSION)],
      ...["--queries", queries, "--truth", truth, "--clients", "4", "--body", "octets"],
    ]);
    expect(shown).toMatchObject({ project: "given", dimension: DIMENSION, vectors: ROWS });
    expect(shown.bytesPerVector).toBeGreaterThan(DIMENSION);
    expect(from).toBe(truth);
    expect(recall).toEqual([{ limit: 10, recall: 1, queries: QUERIES, plans: expect.any(Object) }]);
    const [run] = runs;
    expect(run.answered).toBeGreaterThan(0);
    expect(run.errors).toEqual({});
    expect(run.serverCpuMs).toBeGreaterThan(0);
  });

  test("draws queries from the project's own chunks, and compares with the exact mode", async () => {
    const {
      target: shown,
      truth: from,
      recall,
    } = await loadJson([
      ...target,
      ...["--project", "given", "--query-count", "20", "--recall-queries", "5"],
    ]);
    expect(shown).toMatchObject({ dimension: DIMENSION, queries: 20 });
    expect(from).toContain("exact mode");
    expect(recall[0].queries).toBe(5);
    // The queries are other chunks in every run, and a scan may miss one of 50 results.
    expect(recall[0].recall).toBeGreaterThanOrEqual(0.94);
  });

  test.skipIf(lacks("chromium"))(
    "writes a report that is one file, and that a browser shows without loading anything",
    async () => {
      const path = join(folder, "report.html");
      const { recall, runs } = await loadJson(
        [
          ...target,
          ...["--project", "generated", "--generate", "clusters", "--vectors", "300"],
          ...["--query-count", "20", "--sweep", "20,40", "--limits", "1,10,100", "--report", path],
        ],
        0.1,
      );
      expect(recall.map(({ limit }: Json) => limit)).toEqual([10, 1, 100]);
      for (const each of recall) {
        expect(each.queries).toBe(20);
        expect(each.recall).toBeGreaterThanOrEqual(0.98);
      }
      expect(runs.map(({ arrival, limit }: Json) => [arrival.rate ?? "closed", limit])).toEqual([
        ...[
          ["closed", 10],
          [20, 10],
          [40, 10],
          ["closed", 1],
          ["closed", 100],
        ],
      ]);
      expect(runs.map(({ answered, arrival }: Json) => arrival.rate && answered)).toEqual([
        ...[undefined, 2, 4, undefined, undefined],
      ]);
      const html = await Bun.file(path).text();
      expect(html).not.toContain(key);
      expect(html).not.toMatch(/<(script|link|img|iframe|object)\b|\b(src|href)=|url\(|@import/);
      const browser = await startBrowser();
      for (const colorScheme of ["light", "dark"] as const) {
        const { page, faults } = await openPage(browser, "null", {
          width: 390,
          height: 844,
          colorScheme,
        });
        await page.goto(`file://${path}`);
        const titles = await page.locator("h2").allTextContents();
        expect(titles).toContain("Latency over load");
        expect(titles).toContain("Recall against throughput");
        expect(titles.filter((title) => title.startsWith("Latency over time"))).toHaveLength(5);
        const widths: number[] = await page.evaluate(
          "Array.from(document.querySelectorAll('svg'), (svg) => svg.getBoundingClientRect().width)",
        );
        expect(widths).toHaveLength(8);
        for (const width of widths) expect(width).toBeGreaterThan(200);
        const fits = await page.evaluate("document.body.scrollWidth <= window.innerWidth");
        expect(fits).toBe(true);
        expect(faults).toEqual([]);
      }
    },
  );

  test("a project that the key does not see names the remedy", async () => {
    const stranger = await api.key(await api.user());
    const args = ["--url", api.url, "--key", stranger.key, "--project", "given"];
    const { status, stderr } = await load(args);
    expect(status).toBe(1);
    expect(stderr).toContain("check --project, --environment and --release");
    const wrong = await load(["--url", api.url, "--key", "tsr_wrong", "--project", "given"]);
    expect(wrong.stderr).toContain("`./tessera keys create` makes one");
  });

  test("a project without embeddings says what to do", async () => {
    const empty = await api.project(owner);
    const { status, stderr } = await load([...target, "--project", empty.slug]);
    expect(status).toBe(1);
    expect(stderr).toContain("import some, or give --data or --queries");
  });
});

describe("bench load", () => {
  const MISTAKES: ReadonlyArray<[what: string, args: string[], status: number, message: string]> = [
    ["no key", [], 1, "searches need a key: --key or TESSERA_API_KEY"],
    [
      "no service",
      ["--key", "k", "--url", "http://127.0.0.1:9", "--queries", queries],
      1,
      "start the service, or name its address with --url",
    ],
    ["an empty own service", ["--start"], 1, "give --data or --generate"],
    [
      "a missing file",
      ["--key", "k", "--queries", "/nowhere.npy"],
      1,
      "there is no file /nowhere.npy",
    ],
    ["no dimension", ["--key", "k", "--queries", data], 1, "with --dimension"],
    ["a truth without data", ["--key", "k", "--truth", truth], 1, "give both"],
    ["both loops", ["--rate", "5", "--clients", "2"], 2, "cannot be used with option"],
    ["a negative rate", ["--rate", "-5"], 2, "It must be a number above 0."],
    ["an unknown option", ["--bogus"], 2, "unknown option '--bogus'"],
    ["unknown data", ["--key", "k", "--generate", "noise"], 1, "clusters, uniform, duplicates"],
  ];

  test.each(MISTAKES)(
    "%s is refused with a message that helps",
    async (_, args, status, message) => {
      const result = await load(args);
      expect(result.stderr).toContain(message);
      expect(result).toMatchObject({ status, stdout: "" });
    },
  );

  test("runs as a program on a service of its own, with a table and an exit status", async () => {
    const own = ["--start", "--generate", "clusters", "--vectors", "200", "--query-count", "20"];
    const args = [...own, "--rate", "10", "--duration", "1s", "--warmup", "0"];
    const { status, stdout, stderr } = await runCommand(["bench", "load", ...args]);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^index memory: \d+ bytes per vector$/m);
    expect(stdout).toMatch(/^recall@10 1\.0000 \(20 queries; plan: \w+ \d+%/m);
    expect(stdout).toMatch(/^open, 10\/s +10 +10\.0( +[\d.]+){5} +0 +\d+\.\d{3}$/m);
    const wrong = Bun.spawnSync([process.execPath, "bench/load/run.ts", "--bogus"]);
    expect([wrong.exitCode, wrong.stdout.toString()]).toEqual([2, ""]);
    expect(wrong.stderr.toString()).toContain("unknown option '--bogus'");
  });

  test("the help describes every option and has examples", async () => {
    const { status, stdout } = await load(["--help"]);
    expect(status).toBe(0);
    const options = stdout.split("\n").filter((line) => /^ {2}--/.test(line));
    expect(options.length).toBeGreaterThan(25);
    for (const name of ["--rate", "--sweep", "--report", "--truth", "--body", "--no-wait"]) {
      expect(stdout).toContain(name);
    }
    expect(stdout).toContain("Examples:");
    expect(stdout).toContain("--body <form>");
  });
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { PROJECT_ROOT, runCommand } from "../../support/processes/process.ts";

setDefaultTimeout(120_000);

/** Arguments that finish within seconds, and patterns of lines that the output must have. */
const BENCHMARKS: Readonly<Record<string, { args: string; lines: readonly RegExp[] }>> = {
  "import/run": {
    args: "--chunks 200",
    lines: [
      /bare inserts +│ \d+ +│ 1\.00/,
      /import, base64 +│ \d+/,
      /import, arrays of numbers +│ \d+/,
    ],
  },
  "knowledge/changes": {
    args: "--changes 20 --files 5",
    lines: [/"changes":2,.*"ratio":"1\.00"/, /"changes":20,"anonymous memory MiB":"\d+"/],
  },
  "knowledge/relevance": {
    args: "--queries 5 --judged test/fixtures/judged",
    lines: [
      /Tessera +│ [01]\.\d{3}/,
      /MiniSearch, defaults +│ [01]/,
      /FTS5, Porter, weighted +│ [01]/,
      /^judged: 3 documents, 2 queries$/m,
      /Tessera +│ 1\.000 +│ 1\.00x/,
    ],
  },
  "knowledge/scale": {
    args: "--documents 100 --items 200",
    lines: [
      /^100 documents, \d+ tokens$/m,
      /search, two segments: p50 \d/,
      /a page of 12: first tenth/,
    ],
  },
  "knowledge/service": {
    args: "--documents 50 --imported 50 --items 100 --requests 50",
    lines: [
      /^all searchable, after the last commit: \d/m,
      /^all searchable, after the import: \d/m,
      /^memory per imported document, .*: -?\d.* KiB and -?\d.* KiB/m,
      /^start from the snapshot until ready: \d/m,
      /^lookups, 16 clients: p50 \d.* CPU \d/m,
      /^a page of 12, last tenth of 9 pages: p50 \d/m,
      /^a change among 100 items is visible \(\d+ changes\): p50 \d/m,
    ],
  },
  "load/bodies": {
    args: "--key k --generate text --query-count 3 --out .cache/bodies",
    lines: [/^wrote \.cache\/bodies\/bodies\.ndjson$/m, /^ {2}oha -z 30s /m],
  },
  "load/run": {
    args: "--start --generate clusters --vectors 200 --query-count 20 --duration 1s --warmup 0",
    lines: [
      /^index memory: \d+ bytes per vector$/m,
      /^recall@10 1\.0000 \(20 queries; plan: \w+ \d+%/m,
      /^closed, 16 clients +10 +[\d.]+( +[\d.]+){5} +0 +\d\.\d{3}$/m,
    ],
  },
  "micro/native-search": {
    args: "--vectors 500 --dimension 768 --queries 20",
    lines: [
      /^\| 100% \| scan \| [01]\.\d{4} \| \d/m,
      /^\| 0\.5% \| exact \| 1\.0000 \| \d/m,
      /^snapshot \d.* s, restore \d/m,
      /^ratios to it: search \d/m,
    ],
  },
  "micro/shards": {
    args: "--vectors 600 --shards 600,250 --queries 10",
    lines: [
      /^\| shards \| 3 \|$/m,
      /^\| recall@10 \| [01]\.\d{4} \|$/m,
      /^\| all cores to one, p50 \| \d/m,
      /^\| snapshot written \/ restored, s \| \d/m,
    ],
  },
  "micro/updates": {
    args: "--files 500 --updates 2000 --transaction 100",
    lines: [/^\| after 2,000 updates \| \d/m, /^memory after the updates .*: \d\.\d\d$/m],
  },
  "nodes/run": {
    args: "--projects 3 --chunks 40 --searches 24 --nodes 2",
    lines: [/^\| one node \| 3 \| \d+ \| \d+ \| 24 \|/m, /^\| node 2 of 2 \| \d \|/m],
  },
  "overload/run": {
    args: "--tiny",
    lines: [
      /^\| open loop, 5 x \| \d+ \| \d+ \| \d\.\d\d \| \d/m,
      /^\| closed loop, 300 clients \| \d+ \| \d+ \| \d\.\d\d \| \d/m,
      /^\| beside a flood: open loop, 10 x \| \d+ \| \d+ \| \d/m,
    ],
  },
  "peers/run": {
    args: "--vectors 200 --queries 10 --clients 2 --seconds 0.3 --rounds 1 --peers usearch",
    lines: [
      /^\| Tessera \| 1\.0000 \| - \| \d+ \| 1\.00 \| [\d.]+ \/ [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$/m,
      /^\| usearch bf16, in process \| [01]\.\d{4} \| \d+ \| \d+ \| [\d.]+ \|/m,
    ],
  },
  "recall/run": {
    args: "--tiny",
    lines: ["clusters", "uniform", "duplicates", "text"]
      .flatMap((data) => [
        new RegExp(`^${data}: 400 x 768$`, "m"),
        new RegExp(`^lowest recall of ${data}: (1\\.0000|0\\.9\\d{3})`, "m"),
      ])
      .concat([
        /^\| topics, batches \| other topics \| topical \| 100 \| [01]\.\d{4} \| scan \| \d\.\d\d \| \d+ \| - \|$/m,
        /^\| given, bulk \| held-out \| 100% \| 10 \| [01]\.\d{4} \| scan \| \d\.\d\d \| \d+ \| <?\d+\.\d\d \|$/m,
      ]),
  },
  "rest/run": {
    args: "--seconds 0.2 --rounds 1",
    lines: ["conversation", "message", "tree of 1,000"].map(
      (name) => new RegExp(`^\\| ${name} \\| \\d+ \\| \\d+ \\| \\*\\*\\d+\\.\\d\\d\\*\\* \\|`, "m"),
    ),
  },
  "search/releases": {
    args: "--chunks 200 --dimension 768 --releases 5 --settle 0.5",
    lines: [
      /^\| index memory \| \d+\.\d \| \d+\.\d \| \d\.\d{3} \|$/m,
      /^\| anonymous memory of the process \| \d+\.\d \| \d+\.\d \| \d\.\d{3} \|$/m,
    ],
  },
  "search/run": {
    args: "--chunks 1000 --dimension 768 --queries 20 --requests 100 --rounds 1",
    lines: [
      /^\| 100% \| [01]\.\d{4} \| \d+ \| \d/m,
      /^\| usearch bf16 in process, recall \d\.\d+ \| \d/m,
      /^\| server, JSON array \| \d.* \| \d.* \/ \d.* \|$/m,
      /^\| server, octets \| \d/m,
      /^\| start from the snapshot, s \| \d/m,
    ],
  },
  "search/visibility": {
    args: "--chunks 300 --dimension 768 --transaction 100 --after 0.3",
    lines: [
      /^\| another project \| \d+( \| \d+){5} \|$/m,
      /^\| another environment of the project \| \d+( \| \d+){5} \|$/m,
      /^\| the import itself \| 3( \| \d+){5} \|$/m,
    ],
  },
  "soak/run": {
    args: "--minutes 0.1 --sample 1 --projects 2 --files 10 --no-check",
    lines: [/^\| open handles \| [\d.]+ \| [\d.]+ \| (yes|NO) \|$/m, /^answered: .*; failed: 0$/m],
  },
  "webhooks/exactly-once": { args: "--deliveries 1000", lines: [/^exactly once$/m] },
  "webhooks/throughput": {
    args: "--seconds 0.2 --rounds 1",
    lines: [
      "Tessera",
      "Tessera with Redis",
      "bare handler, a transaction",
      "bare handler, our function",
    ].map(
      (name) =>
        new RegExp(`^\\| ${name} \\| \\d+ \\| \\d+\\.\\d\\d \\| \\d+\\.\\d\\d \\| \\d+ \\|$`, "m"),
    ),
  },
};

describe("benchmarks", () => {
  test("every benchmark that the command line lists runs here", async () => {
    const { stdout } = await runCommand(["bench"]);
    const names = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ", 1)[0]);
    expect(names).toEqual(Object.keys(BENCHMARKS));
  });

  for (const [name, { args, lines }] of Object.entries(BENCHMARKS)) {
    test(`${name} measures a small example`, async () => {
      const program = Bun.spawn([process.execPath, `bench/${name}.ts`, ...args.split(" ")], {
        cwd: PROJECT_ROOT,
        stdout: "pipe",
        stderr: "pipe",
      });
      const [output, errors] = await Promise.all([program.stdout.text(), program.stderr.text()]);
      expect(await program.exited, errors + output).toBe(0);
      for (const line of lines) expect(output).toMatch(line);
    });
  }
});

test("every benchmark explains itself with --help, and a wrong option with its help", async () => {
  for (const name of Object.keys(BENCHMARKS)) {
    const help = await runCommand(["bench", name, "--help"]);
    expect([name, help.status, help.stdout.includes(`bun bench/${name}.ts`)]).toEqual([
      name,
      0,
      true,
    ]);
  }
  const wrong = await runCommand(["bench", "rest/run", "--bogus"]);
  expect(wrong.status).not.toBe(0);
  expect(wrong.stderr).toContain("Unknown option '--bogus'");
  expect(wrong.stderr).not.toContain("at readOptions");
});

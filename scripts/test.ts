/**
 * Runs every check of the repository: formatting and lint, types, all tests. The last line that it
 * prints is `N passed, N failed`, and the exit status is 0 only if nothing failed. With paths as
 * arguments only the tests below them run.
 */
import { existsSync } from "node:fs";
import { Glob } from "bun";
import { cleanUp } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { SERVER_VARIABLE, startPostgres } from "../support/processes/postgres.ts";
import { type Counts, execute, runTestFiles } from "../support/processes/test-process.ts";

/** Number of concurrent test processes: more than cores, because many tests wait for servers. */
const PARALLEL = 3;
/** Test files per process: more files need fewer start-ups, fewer files balance the load. */
const FILES_PER_PROCESS = 8;
/** Folders below test/ whose files take ten seconds or more on average. */
const SLOW_FOLDERS: readonly string[] = ["bench", "cli", "faults", "model", "native"];
const SLOW_FILES_PER_PROCESS = 4;
/** Tests that need a PostgreSQL with pgvector, which no package of the dependencies contains. */
const ENGINE_TESTS = "test/engine/";

type Step = { name: string; run: () => Promise<{ counts: Counts; output: string }> };

const PASSED: Counts = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Counts = { passed: 0, failed: 1, skipped: 0 };

async function main(paths: readonly string[]): Promise<number> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  const reports = temporaryFolder("reports");
  const files = await testFiles(paths);
  if (files.length === 0) throw new Error(`no tests are below ${paths.join(", ")}`);
  await ensurePrograms();
  const env = { ...process.env, [SERVER_VARIABLE]: await startPostgres() };

  const checks =
    paths.length > 0
      ? []
      : [
          command("biome", ["check", "--error-on-warnings"]),
          command("tsc", []),
          // The scripts of the console, which run in browsers.
          command("tsc", ["-p", "src/console/page"]),
          // The scripts that k6 runs.
          command("tsc", ["-p", "bench/k6"]),
        ];
  const tests = groups(files).map((group, index) =>
    testProcess(group, `${reports}/${index}.xml`, env),
  );
  await runAll([...checks, ...tests], ({ passed, failed, skipped }) => {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  });
  await cleanUp();

  process.stdout.write(`not run: ${ENGINE_TESTS}, which needs pgvector (npm run test:engine)\n`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
  return total.failed === 0 ? 0 : 1;
}

async function runAll(steps: Step[], add: (counts: Counts) => void): Promise<void> {
  const queue = [...steps];
  const work = async (): Promise<void> => {
    for (let step = queue.shift(); step; step = queue.shift()) {
      const begun = performance.now();
      const { counts, output } = await step.run();
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      add(counts);
      // The output of passed steps is not shown.
      if (counts.failed > 0) process.stdout.write(`${output.trimEnd()}\n`);
      const verdict = counts.failed > 0 ? "FAIL" : "ok  ";
      process.stdout.write(`${verdict} ${step.name} (${counts.passed} passed, ${seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

async function testFiles(paths: readonly string[]): Promise<string[]> {
  const files = await Array.fromAsync(new Glob("test/**/*.test.ts").scan("."));
  const below = (file: string): boolean =>
    paths.length === 0 || paths.some((path) => file.startsWith(path.replace(/^\.\//, "")));
  return files.filter((file) => below(file) && !file.startsWith(ENGINE_TESTS)).sort();
}

/**
 * Groups of files from one folder, so that the slow start of a folder happens few times. Those that take
 * long come first, so that all processes end at about the same time.
 */
function groups(files: readonly string[]): string[][] {
  const folders = Map.groupBy(files, (file) => file.split("/")[1] ?? file);
  const isSlow = (name: string): boolean => SLOW_FOLDERS.includes(name);
  const sorted = [...folders].sort(([a], [b]) => Number(isSlow(b)) - Number(isSlow(a)));
  return sorted.flatMap(([name, folder]) => {
    const size = isSlow(name) ? SLOW_FILES_PER_PROCESS : FILES_PER_PROCESS;
    const count = Math.ceil(folder.length / size);
    return Array.from({ length: count }, (_, index) =>
      folder.filter((_, position) => position % count === index),
    );
  });
}

/** A tool of node_modules that counts as one check. */
function command(name: string, args: readonly string[]): Step {
  return {
    name,
    async run() {
      const { status, output } = await execute([`node_modules/.bin/${name}`, ...args], process.env);
      return { counts: status === 0 ? PASSED : FAILED, output };
    },
  };
}

function testProcess(
  files: readonly string[],
  report: string,
  env: Record<string, string | undefined>,
): Step {
  const folder = files[0]?.split("/").slice(0, 2).join("/") ?? "";
  return {
    name: `${folder} (${files.length} files)`,
    run: () => runTestFiles(files, report, env),
  };
}

/** Programs that the tests need and no npm package contains. */
const PROGRAMS = [
  {
    package: "chromium",
    brew: "chromium",
    isThere: () => Bun.which("chromium") !== null || Bun.which("google-chrome") !== null,
  },
  {
    package: "nginx-light",
    brew: "nginx",
    isThere: () => Bun.which("nginx") !== null || existsSync("/usr/sbin/nginx"),
  },
  {
    package: "haproxy",
    brew: "haproxy",
    isThere: () => Bun.which("haproxy") !== null || existsSync("/usr/sbin/haproxy"),
  },
  { package: "wrk", brew: "wrk", isThere: () => Bun.which("wrk") !== null },
  { package: "python3", brew: "python3", isThere: () => Bun.which("python3") !== null },
  { package: "redis-server", brew: "redis", isThere: () => Bun.which("redis-server") !== null },
  {
    package: "postgresql",
    brew: "postgresql",
    // The embedded PostgreSQL has no pg_dump. Debian keeps the server's programs off the PATH.
    isThere: () =>
      Bun.which("pg_dump") !== null &&
      (Bun.which("initdb") !== null || existsSync("/usr/lib/postgresql")),
  },
];

/** Installs what is missing where that is possible, and else says what to install. */
async function ensurePrograms(): Promise<void> {
  const missing = () => PROGRAMS.filter(({ isThere }) => !isThere());
  const packages = missing().map((each) => each.package);
  if (packages.length > 0 && process.getuid?.() === 0 && Bun.which("apt-get")) {
    process.stdout.write(`installing ${packages.join(", ")} for the tests\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-y", "--no-install-recommends", ...packages];
    for (const args of [["update"], install]) {
      const program = Bun.spawn(["apt-get", ...args], {
        env,
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      await program.exited;
    }
  }
  const [first] = missing();
  if (first === undefined) return;
  throw new Error(
    `${first.package} is missing and the tests need a real one: install it (Debian: apt-get install ${first.package}, macOS: brew install ${first.brew})`,
  );
}

try {
  process.exitCode = await main(Bun.argv.slice(2));
} catch (error) {
  await cleanUp();
  process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exitCode = 1;
}

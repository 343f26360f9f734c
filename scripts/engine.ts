/**
 * Tests the engine pgvector: `npm run test:engine`.
 *
 * It starts PostgreSQL with pgvector and runs the API tests of searches against it, then the tests in
 * test/long/engine. The extensions are the installed ones, those in `--postgres DIR`, or built from source
 * archives: `--sources DIR`, or the variable TESSERA_ENGINES. With Citus among them, it also starts a coordinator and two workers. With
 * paths as arguments only the tests below them run. The last line is `N passed, N failed`.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { callerDirectory } from "../src/ops/config/caller.ts";
import { ENGINE_VARIABLE } from "../support/api/api.ts";
import { cleanUp } from "../support/cleanup.ts";
import { temporaryFolder } from "../support/folders.ts";
import { SERVER_VARIABLE } from "../support/processes/postgres.ts";
import { startCitus } from "../test/long/engine/citus.ts";
import {
  type Engines,
  engineIn,
  findEngines,
  removeUnfinished,
  SOURCES_VARIABLE,
} from "../test/long/engine/extensions.ts";
import { startEngineServer } from "../test/long/engine/server.ts";
import { BIN_VARIABLE, CITUS_VARIABLE } from "../test/long/engine/variables.ts";
import { type Counts, runTestFiles } from "./test-process.ts";

const USAGE = `usage: npm run test:engine -- [options] [paths]

  --sources DIR   build pgvector and Citus from the source archives in this folder
  --postgres DIR  use the PostgreSQL in this folder (bin, lib, share), which has pgvector
  --figures       measure recall, CPU time and rates instead of running tests
  --help
`;

/** Tests of the API that hold for every engine. */
const API_TESTS = [
  "announced-versions",
  "embedders",
  "filters",
  "get-index-state",
  "import-isolation",
  "import-records",
  "list-fields",
  "lookup-knowledge",
  "mcp",
  "retrieve",
  "retrieve-facets",
  "retrieve-groups",
  "retrieve-like",
  "search-effort",
  "search-environment",
  "search-recall",
  "search-release",
  "search-validation",
  "total-matches",
].map((name) => `test/api/${name}.test.ts`);

async function testsOf(paths: readonly string[]): Promise<string[]> {
  const own = await Array.fromAsync(new Glob("test/long/engine/**/*.test.ts").scan("."));
  const all = [...own.sort(), ...API_TESTS];
  return paths.length === 0
    ? all
    : all.filter((file) => paths.some((path) => file.startsWith(path)));
}

/** Folders of options are relative to where the command was called. */
function chosenEngines(): Promise<Engines> {
  const { postgres, sources } = values;
  if (postgres !== undefined) return engineIn(resolve(callerDirectory(), postgres));
  return findEngines(sources && resolve(callerDirectory(), sources));
}

async function main(paths: readonly string[]): Promise<number> {
  removeUnfinished();
  const engines = await chosenEngines();
  const names = [...engines.extensions].join(" and ");
  process.stdout.write(`PostgreSQL ${engines.major} with ${names}, ${engines.origin}\n`);
  const server = await startEngineServer(engines.bin);
  const citus = engines.extensions.has("citus") ? await startCitus(engines.bin) : undefined;
  if (citus === undefined)
    process.stdout.write("not run: tests of Citus, which is not installed\n");
  const env = {
    ...process.env,
    [SERVER_VARIABLE]: server.url("postgres"),
    [ENGINE_VARIABLE]: "pgvector",
    [BIN_VARIABLE]: engines.bin,
    [CITUS_VARIABLE]: citus?.url,
  };
  if (values.figures) {
    const program = Bun.spawn([process.execPath, "test/long/engine/figures.ts"], {
      env,
      stdio: ["ignore", "inherit", "inherit"],
    });
    return await program.exited;
  }
  const reports = temporaryFolder("reports");
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [index, file] of (await testsOf(paths)).entries()) {
    if (citus === undefined && file.includes("citus")) continue;
    const { counts, output } = await runTestFiles([file], `${reports}/${index}.xml`, env);
    total.passed += counts.passed;
    total.failed += counts.failed;
    if (counts.failed > 0) process.stdout.write(`${output.trimEnd()}\n`);
    const verdict = counts.failed > 0 ? "FAIL" : "ok  ";
    process.stdout.write(`${verdict} ${file} (${counts.passed} passed)\n`);
  }
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sources: { type: "string", default: process.env[SOURCES_VARIABLE] },
    postgres: { type: "string" },
    figures: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else {
  try {
    process.exitCode = await main(positionals);
  } catch (error) {
    process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
    process.stdout.write("0 passed, 1 failed\n");
    process.exitCode = 1;
  }
  await cleanUp();
}

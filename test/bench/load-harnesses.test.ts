import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { needs, programPath } from "../../support/programs.ts";

needs("python3");

const api = await startApi({ env: { SEARCH_WORKERS: "1" } });
const { key } = await api.key(await api.user());

/**
 * Copies the stand-in of a harness and our client of it to a folder, as its README says, and runs
 * the program that drives it. Returns what it prints.
 */
async function drive(
  harness: string,
  client: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const folder = temporaryFolder("harness");
  const copy = (from: string, to: string) =>
    cpSync(join(PROJECT_ROOT, from), join(folder, to), { recursive: true, dereference: true });
  copy(`test/bench/${harness}`, ".");
  copy(`bench/${harness}/tessera`, client);
  const child = Bun.spawn([programPath("python3"), "drive.py", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", PYTHONDONTWRITEBYTECODE: "1", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(await child.exited, stderr).toBe(0);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

test("the client of VectorDBBench loads, waits, filters by releases and finds the true neighbours", async () => {
  const result = await drive("vectordbbench", "vectordb_bench/backend/clients/tessera", [
    api.url,
    key,
  ]);
  expect(result.inserted).toBe(150);
  expect(result.recall).toEqual({ all: 1, threshold: 1, label: 1 });
  expect(result.filters).toEqual(["Label", "NonFilter", "NumGE"]);
  // Searching without a new load goes to the newest project, and each new load makes one.
  expect(result.projects).toEqual(["vdb-1", "vdb-1", "vdb-2"]);
  expect(result.refusals).toEqual({
    threshold: expect.stringContaining("load with --id-thresholds 7"),
    metric: expect.stringContaining("Tessera compares by cosine"),
    key: expect.stringContaining("401"),
    dimension: expect.stringContaining("no index for vectors of 5000 elements"),
    limit: expect.stringContaining("at most 100 results"),
  });
  expect(result.command).toEqual(["vdb", { id_thresholds: [5, 7] }]);
});

test("the engine of vector-db-benchmark uploads, waits and finds the true neighbours", async () => {
  const env = { TESSERA_API_KEY: key, TESSERA_PROJECT: "vdbb" };
  const result = await drive("vector-db-benchmark", "engine/clients/tessera", [api.url], env);
  expect(result.precisions).toEqual({ 1: 1, 2: 1 });
  expect(result.refusals).toEqual({
    distance: expect.stringMatching(/^IncompatibilityError: Tessera compares by cosine/),
    sparse: expect.stringContaining("no sparse vectors"),
    conditions: expect.stringContaining("filters by releases"),
  });
});

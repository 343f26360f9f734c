import { join } from "node:path";
import type { BenchContext } from "../../../bench/harness/context.ts";
import { BenchServer } from "../../../bench/harness/server.ts";
import { Output, secondsSince } from "../../../bench/harness/table.ts";
import { loadConfig } from "../../../src/ops/config/load.ts";
import { serve } from "../../../src/serve.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { memoryFolder } from "../../../support/folders.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";

/** The data folders of services that run here. A service that is a process of its own refuses one that is in use. */
const dataFolders = new Set<string>();

/** Starts the service in this process. Its processor time and memory are those of the process. */
function startServer(env: Readonly<Record<string, string>>): Promise<BenchServer> {
  const defaults = { PORT: "0", HOST: "127.0.0.1", DEMO: "off", SEARCH_WORKERS: "1" };
  return BenchServer.start(async () => {
    const dataDir = env["DATA_DIR"] ?? memoryFolder("bench-server");
    if (dataFolders.has(dataDir)) throw new Error(`a service runs on ${dataDir} already`);
    dataFolders.add(dataDir);
    const config = loadConfig({ ...defaults, DATA_DIR: dataDir, ...env, LOG_LEVEL: "fatal" });
    const { url, stop } = await serve(config);
    const end = onCleanup(async () => {
      await stop();
      dataFolders.delete(dataDir);
    });
    return { url: new URL(url), pid: process.pid, logs: () => "", stop: end, kill: end };
  });
}

async function openBenchDatabase() {
  const dataDir = memoryFolder("bench");
  const { sql, url } = await createTestDatabase();
  return { dataDir, url, sql, env: { DATABASE_URL: url, DATA_DIR: dataDir } };
}

async function startBaseline(path: string, ...args: string[]) {
  const { start } = await import(join(PROJECT_ROOT, path));
  return { url: new URL(start(...args)), pid: process.pid };
}

async function importFile(path: string, url: string) {
  const started = performance.now();
  const before = process.cpuUsage();
  const { status, stderr } = await callCommand(["import", path], { env: { DATABASE_URL: url } });
  if (status !== 0) throw new Error(stderr);
  const { user, system } = process.cpuUsage(before);
  const memory = process.memoryUsage.rss();
  return { seconds: secondsSince(started), cpu: (user + system) / 1e6, memory };
}

/**
 * Lets a benchmark run in this process, on a database of the tests' own PostgreSQL. The texts are what
 * it has written so far.
 */
export function inProcess() {
  const written = { out: "", errors: "" };
  const context: BenchContext = {
    out: new Output((text) => {
      written.out += text;
    }),
    errors: new Output((text) => {
      written.errors += text;
    }),
    openDatabase: openBenchDatabase,
    startServer,
    startBaseline,
    importFile,
  };
  return { context, written };
}

import { runProgram } from "../../support/cleanup.ts";
import { type BenchDatabase, startDatabase } from "./database.ts";
import { type ImportCost, importFile } from "./import-file.ts";
import { readOptions, type Values } from "./options.ts";
import { type Address, type BenchServer, startBaseline, startServerProcess } from "./server.ts";
import { Output } from "./table.ts";

/** What a benchmark runs with. From the command line all servers are processes of their own. */
export interface BenchContext {
  readonly out: Output;
  /** Messages beside the result. */
  readonly errors: Output;
  /** An empty database with the current schema. */
  openDatabase(): Promise<BenchDatabase>;
  /** Starts the service with these variables and waits until it is ready. */
  startServer(
    env: Readonly<Record<string, string>>,
    program?: readonly string[],
  ): Promise<BenchServer>;
  /** Starts a baseline: a program of bench/ that exports `start`. */
  startBaseline(path: string, ...args: string[]): Promise<Address>;
  /** Imports a file as the command line does. */
  importFile(path: string, databaseUrl: string): Promise<ImportCost>;
}

export const COMMAND_LINE: BenchContext = {
  out: new Output((text) => process.stdout.write(text)),
  errors: new Output((text) => process.stderr.write(text)),
  openDatabase: startDatabase,
  startServer: startServerProcess,
  startBaseline,
  importFile,
};

/** Runs a benchmark with the options of the command line, and ends the process. */
export async function runBenchmark<T extends Values>(
  defaults: T,
  run: (options: T, context: BenchContext) => Promise<unknown>,
): Promise<never> {
  const options = readOptions(defaults);
  return await runProgram(async () => {
    await run(options, COMMAND_LINE);
  });
}

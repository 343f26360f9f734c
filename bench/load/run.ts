/**
 * Load with vector searches for a running service: latency, throughput, recall, and a report.
 *
 *   bun bench/load/run.ts [options]
 *
 * `--help` lists the options.
 */
import { CommandError } from "../../src/cli/command-error.ts";
import type { BenchContext } from "../harness/context.ts";
import { loadInputs } from "./inputs.ts";
import { type LoadOptions, loadCommand } from "./options.ts";
import { startOwnService } from "./own-service.ts";
import { runCommandLine } from "./program.ts";
import { reportPage } from "./report.ts";
import { formatResult, type LoadResult } from "./result.ts";
import { type LoadRun, measure, type RunOptions, sweepRates } from "./runs.ts";
import { openService, Service } from "./service.ts";
import { measureRecall, type Recall } from "./truth.ts";

async function serviceOf(options: LoadOptions, context: BenchContext): Promise<Service> {
  if (options.start !== true) return openService(options);
  if (options.data === undefined && options.generate === undefined) {
    throw new CommandError("--start begins with an empty database: give --data or --generate");
  }
  const { project, environment, release } = options;
  const own = await startOwnService(context, project, environment);
  return new Service({ project, environment, release, ...own });
}

/** Single run, sweep and limits, as the options ask for. */
async function measureAll(options: LoadOptions, common: RunOptions): Promise<LoadRun[]> {
  const { clients, rate, sweep, limit, limits = [], connections } = options;
  const runs: LoadRun[] = [];
  const open = (each: number) => measure(common, { kind: "open", rate: each, connections }, limit);
  const closed = (each: number) => measure(common, { kind: "closed", clients }, each);
  runs.push(rate === undefined ? await closed(limit) : await open(rate));
  if (sweep !== undefined) {
    const capacity = runs[0]?.throughput ?? 0;
    for (const each of sweepRates(sweep, capacity)) runs.push(await open(each));
  }
  for (const each of limits)
    if (each !== limit || rate !== undefined) runs.push(await closed(each));
  return runs;
}

async function run(options: LoadOptions, context: BenchContext): Promise<LoadResult> {
  const startedAt = new Date().toISOString();
  const service = await serviceOf(options, context);
  const inputs = await loadInputs(service, options);
  const recall: Recall[] = [];
  const limits = [...new Set([options.limit, ...(options.limits ?? [])])];
  for (const limit of inputs.truth.length === 0 ? [] : limits) {
    recall.push(await measureRecall(service, inputs.queries, inputs.truth, limit));
  }
  const runs = await measureAll(options, {
    service,
    queries: inputs.queries,
    form: options.body,
    seconds: options.duration,
    warmUpSeconds: options.warmup,
    timeoutMs: options.timeout * 1_000,
  });
  const { release, environment, project } = options;
  const target = {
    url: service.url.href,
    project,
    scope: release === undefined ? `environment ${environment}` : `release ${release}`,
    dimension: inputs.queries.dimension,
    vectors: inputs.vectors,
    bytesPerVector: inputs.bytesPerVector,
    queries: inputs.queries.rows,
    queriesFrom: inputs.queriesFrom,
    body: options.body,
  };
  return { startedAt, target, recall, truth: inputs.truthFrom, runs };
}

export async function main(options: LoadOptions, context: BenchContext): Promise<void> {
  const result = await run(options, context);
  context.out.write(options.json === true ? `${JSON.stringify(result)}\n` : formatResult(result));
  if (options.report === undefined) return;
  await Bun.write(options.report, reportPage(result));
  context.errors.line(`tessera: the report is ${options.report}`);
}

if (import.meta.main) await runCommandLine(loadCommand(), main);

/**
 * How many nodes, how much memory and how much money projects need, and what limits them first: a simulation.
 *
 *   bun bench/capacity/run.ts [--steps 1x100000,10x100000,10x1000000,100x1000000,1000x1000000]
 *     [--vectors 100000000,1000000000] [--dimension 768] [--sizes 0.5] [--popularity 1] [--rate 10]
 *     [--scope 1] [--document 4] [--shard 524288] [--changes 0.01] [--commit 10] [--recovery 300] [--fill 3]
 *     [--busy 0.6] [--reads 100000] [--volume 16] [--gibPerCore 8] [--largest 2048]
 *     [--coreHour 0.03] [--gibHour 0.004] [--diskMonth 0.1] [--seed 1]
 *
 * Each of `--steps` is projects x vectors on nodes, which grow from the step before; each of `--vectors` is one
 * project in PostgreSQL. The figures that it starts from are printed, with where each was measured; docs/capacity.md
 * explains the model. It needs no service and takes a few seconds.
 */
import { type BenchContext, runBenchmark } from "../../support/bench/context.ts";
import type { Output } from "../../support/bench/table.ts";
import { type Death, playDeath } from "./death.ts";
import { figure, MEASURED } from "./measured.ts";
import { type NodeFleet, peaksOf, sizeNodes } from "./nodes.ts";
import { OPTIONS as MODEL, type Options as Model } from "./options.ts";
import { total } from "./placement.ts";
import type { Limit, Sized } from "./sizing.ts";
import { placementCpu, rowBytes, sizeVectorServers, type VectorFleet } from "./vectors.ts";
import { drawProjects, type Project } from "./workload.ts";

const STEPS = "1x100000,10x100000,10x1000000,100x1000000,1000x1000000";
export const OPTIONS = { ...MODEL, steps: STEPS, vectors: "100000000,1000000000" };
type Options = typeof OPTIONS;

const SMALLEST: NodeFleet = { places: 1, replicas: 1, gib: 16, connections: 100, commit: 10 };
const SMALLEST_SERVERS: VectorFleet = {
  ...{ placements: 1, serverGib: 32, nodes: 2, nodeGib: 16, connections: 100, commit: 10 },
};
/** A lone node has its PostgreSQL within; others share a server and its standby, of so much memory each. */
const DATABASES = 2;
const DATABASE_GIB = 64;
/** Each server of vectors has a standby as well, since filling one again takes days. */
const SERVER_COPIES = 2;
const HOURS_OF_MONTH = 730;
const MILLION = 1e6;

interface Cost {
  readonly gib: number;
  readonly perHour: number;
  /** What a million searches cost at the rate of the step, and the processor time in it. */
  readonly perMillion: number;
  readonly cpuPerMillion: number;
}

export interface StepFigures extends Cost, Sized<NodeFleet> {
  readonly name: string;
  readonly projects: readonly Project[];
  readonly cpu: number;
  /** What INDEX_MEMORY_BYTES has to be, so that nothing is unloaded. */
  readonly counted: number;
  readonly death?: Death | undefined;
}

export interface VectorFigures extends Cost, Sized<VectorFleet> {
  readonly name: string;
  readonly cpu: number;
}

interface Machines {
  readonly gib: number;
  readonly diskBytes: number;
  readonly rate: number;
  readonly cpu: number;
}

function costOf({ gib, diskBytes, rate, cpu }: Machines, databases: number, model: Model): Cost {
  const all = gib + databases * DATABASE_GIB;
  const machines = all * (model.gibHour + model.coreHour / model.gibPerCore);
  const perHour = machines + ((diskBytes / 1e9) * model.diskMonth) / HOURS_OF_MONTH;
  const core = model.coreHour + model.gibPerCore * model.gibHour;
  return {
    ...{ gib, perHour },
    perMillion: (perHour / (rate * 3_600)) * MILLION,
    cpuPerMillion: ((cpu * MILLION) / 3_600) * core,
  };
}

const stored = (vectors: number, { dimension }: Model): number =>
  vectors * (4 * dimension + figure("databasePerVector"));

function takeStep(name: string, start: NodeFleet, options: Options): StepFigures {
  const [count = 1, vectors = 1] = name.split("x").map(Number);
  const projects = drawProjects(count, vectors, options);
  const commit = options.commit;
  const sized = sizeNodes(
    projects,
    { ...start, commit },
    name !== options.steps.split(",")[0],
    options,
  );
  const { fleet } = sized;
  const rate = total(projects, (project) => project.rate);
  const cpu = total(projects, (project) => project.rate * project.cpu) / rate;
  const files = fleet.replicas * total(projects, ({ hot, mapped }) => hot + mapped);
  const nodes = fleet.places * fleet.replicas;
  const databases = nodes > 1 ? DATABASES : 0;
  const gib = nodes * fleet.gib;
  const diskBytes = files + Math.max(1, databases) * stored(count * vectors, options);
  return {
    ...{
      name,
      projects,
      cpu,
      counted: peaksOf(projects, fleet, options).counted,
      ...sized,
      ...costOf({ gib, diskBytes, rate, cpu }, databases, options),
    },
    death: nodes > 1 ? playDeath(projects, fleet, options) : undefined,
  };
}

function takeVectors(vectors: number, options: Options): VectorFigures {
  const sized = sizeVectorServers(
    vectors,
    { ...SMALLEST_SERVERS, commit: options.commit },
    options,
  );
  const { placements, serverGib, nodes, nodeGib } = sized.fleet;
  const cpu = placements * placementCpu(vectors / placements);
  const gib = SERVER_COPIES * placements * serverGib + nodes * nodeGib;
  const rows = SERVER_COPIES * vectors * rowBytes(options.dimension);
  const diskBytes = stored(vectors, options) * DATABASES + rows;
  return {
    ...{ name: String(vectors), cpu, ...sized },
    ...costOf({ gib, diskBytes, rate: options.rate, cpu }, DATABASES, options),
  };
}

const grouped = (value: number, digits = 0): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: digits });
const money = (value: number): string => value.toFixed(2);

function describeLimit(limit: Limit<unknown>): string {
  const use = Number.isFinite(limit.use) ? ` (${limit.use.toFixed(1)} x)` : "";
  const removed =
    limit.grown === undefined ? `left; would be removed by ${limit.remedy}` : limit.remedy;
  return `${limit.name}${use}: ${removed}`;
}

function describe({ met }: { readonly met: readonly Limit<unknown>[] }): string {
  return met.length === 0 ? "none" : met.map(describeLimit).join("; ");
}

function printSteps(out: Output, steps: readonly StepFigures[]): void {
  out.head(
    ...["projects x vectors", "nodes", "GiB each", "GiB", "largest project", "CPU ms per search"],
    ...[
      "$ per hour",
      "$ per million",
      "of that CPU",
      "INDEX_MEMORY_BYTES, GB",
      "max_connections",
      "bottlenecks, the first one first",
    ],
  );
  for (const { name, fleet, projects, cpu, ...step } of steps) {
    const nodes = fleet.places * fleet.replicas;
    out.row(
      ...[
        name,
        fleet.replicas > 1 ? `${fleet.places} x ${fleet.replicas}` : nodes,
        fleet.gib,
        grouped(step.gib),
      ],
      ...[grouped(Math.max(...projects.map(({ vectors }) => vectors))), (cpu * 1_000).toFixed(2)],
      ...[money(step.perHour), money(step.perMillion), money(step.cpuPerMillion)],
      ...[grouped(step.counted / 1e9, 1), fleet.connections, describe(step)],
    );
  }
  out.head(
    ...["death of a node", "p50 / p99 ms before", "p50 / p99 ms after", "answered", "refused"],
    ...["s until all is loaded", "s from shared snapshots"],
  );
  for (const { name, death } of steps) {
    if (death === undefined) continue;
    const { before, after, loaded, restored } = death;
    out.row(
      ...[name, `${before.p50.toFixed(1)} / ${before.p99.toFixed(1)}`],
      ...[`${after.p50.toFixed(1)} / ${after.p99.toFixed(1)}`, after.answered, after.refused],
      ...[loaded.toFixed(0), restored.toFixed(1)],
    );
  }
}

function printVectors(out: Output, all: readonly VectorFigures[]): void {
  out.head(
    ...["one project, vectors", "placements", "GiB each", "nodes", "GiB each", "CPU ms per search"],
    ...["$ per hour", "$ per million", "of that CPU", "bottlenecks, the first one first"],
  );
  for (const { name, fleet, cpu, ...rest } of all) {
    out.row(
      ...[grouped(Number(name)), fleet.placements, fleet.serverGib, fleet.nodes, fleet.nodeGib],
      ...[(cpu * 1_000).toFixed(0), money(rest.perHour), money(rest.perMillion)],
      ...[money(rest.cpuPerMillion), describe(rest)],
    );
  }
}

export async function run(options: Options, { out }: BenchContext) {
  const steps: StepFigures[] = [];
  for (const name of options.steps.split(",").filter(Boolean)) {
    steps.push(takeStep(name, steps.at(-1)?.fleet ?? SMALLEST, options));
  }
  const counts = options.vectors.split(",").filter(Boolean).map(Number);
  const vectors = counts.map((count) => takeVectors(count, options));
  out.head("measured", "value", "unit", "where");
  for (const { what, value, unit, where } of Object.values(MEASURED))
    out.row(what, value, unit, where);
  printSteps(out, steps);
  printVectors(out, vectors);
  return { steps, vectors };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

/**
 * Recall and CPU per query over data sets, orders of arrival, scopes and limits, against USearch.
 *
 *   bun bench/recall/run.ts [--data clusters,uniform,duplicates,text,encoder] [--vectors 5000,20000]
 *                           [--dimension 768] [--count 300]
 *                           [--base FILE --queries FILE,FILE]
 *                           [--orders given,shuffled,topics] [--arrivals bulk,batches]
 *                           [--scopes 100%,50%,topical,10%,1%] [--limits 10,100]
 *                           [--no-baseline] [--scope-baselines] [--folder DIR]
 *
 * All in one process, without HTTP. Files are .f32 and .f16 (little-endian, with --dimension), .fvecs
 * or .npy. `--count` is the number of queries per kind.
 */

import { temporaryFolder } from "../../support/folders.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { cpuMicroseconds } from "../harness/process-usage.ts";
import { mean } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import { type Matrix, padded, rowOf } from "../harness/vector-files.ts";
import { orderOf, rowsOf } from "./arrangement.ts";
import { type DataSet, dataSets } from "./data-sets.ts";
import { foundOf, Project } from "./project.ts";
import { Baseline, ratioText } from "./usearch.ts";

export const OPTIONS = {
  data: "clusters,uniform,duplicates,text,encoder",
  vectors: "20000",
  dimension: 768,
  count: 300,
  base: "",
  queries: "",
  orders: "given,shuffled,topics",
  arrivals: "bulk,batches",
  scopes: "100%,50%,topical,10%,1%",
  limits: "10,100",
  baseline: true,
  "scope-baselines": false,
  folder: "",
};
type Options = typeof OPTIONS;

const WHOLE = "100%";
/** With less, a user notices that results are missing. */
const LOW_RECALL = 0.8;

/** What is searched for in each index. */
interface Plan {
  readonly scopes: readonly string[];
  readonly limits: readonly number[];
}

/** One kind of query of a data set, with the true scores per scope once they are known. */
interface Queries {
  readonly name: string;
  /** For the index, and for the baseline, which needs no padding. */
  readonly wide: readonly Float32Array<ArrayBuffer>[];
  readonly plain: readonly Float32Array<ArrayBuffer>[];
  readonly truth: Map<string, Float64Array[]>;
}

/** One row of the table. */
interface Measured {
  readonly arrival: string;
  readonly queries: string;
  readonly scope: string;
  readonly limit: number;
  readonly recall: number;
  /** Queries with a recall below LOW_RECALL. */
  readonly low: number;
  readonly plans: string;
  readonly microseconds: number;
}

const vectorsOf = (matrix: Matrix) =>
  Array.from({ length: matrix.rows }, (_, row) => rowOf(matrix, row));

function queriesOf(data: DataSet): Queries[] {
  return data.queries.map(({ name, vectors }) => ({
    name,
    wide: vectorsOf(padded(vectors)),
    plain: vectorsOf(vectors),
    truth: new Map(),
  }));
}

/** The scores of the true best do not depend on the order of arrival, so one index gives them. */
function findTruth(project: Project, queries: Queries, { scopes, limits }: Plan): void {
  const limit = Math.max(...limits);
  for (const scope of scopes) {
    if (queries.truth.has(scope)) continue;
    const scores = queries.wide.map((query) => project.exactScores(scope, query, limit));
    queries.truth.set(scope, scores);
  }
}

/** The baseline's recall and cost at growing expansions; null where there is no baseline. */
type CurveOf = (
  queries: Queries,
  scope: string,
  limit: number,
) => ReturnType<Baseline["curve"]> | null;

type Curves = Map<string, ReturnType<Baseline["curve"]>>;

function baselineOf(
  options: Options,
  data: DataSet,
  members: Map<string, number[]>,
  folder: string,
): { curveOf: CurveOf; curves: Curves } {
  const curves: Curves = new Map();
  const curveOf: CurveOf = (queries, scope, limit) => {
    if (!options.baseline || (scope !== WHOLE && !options["scope-baselines"])) return null;
    const key = `${queries.name}, ${scope}, ${limit}`;
    let curve = curves.get(key);
    if (curve === undefined) {
      const rows = members.get(scope) as number[];
      const name = `${data.name}-${scope.replace("%", "")}`;
      const index = Baseline.build(data.base, rows, folder, name);
      curve = index.curve(queries.plain, queries.truth.get(scope) as Float64Array[], limit);
      curves.set(key, curve);
    }
    return curve;
  };
  return { curveOf, curves };
}

function measure(project: Project, queries: Queries, scope: string, limit: number) {
  const truth = queries.truth.get(scope) as Float64Array[];
  const plans = new Map<string, number>();
  const shares = queries.wide.map((query, i) => {
    const { scores, plan } = project.search(scope, query, limit);
    plans.set(plan, (plans.get(plan) ?? 0) + 1);
    return foundOf(scores, truth[i] as Float64Array, limit);
  });
  const microseconds = cpuMicroseconds(queries.wide.length, (i) => {
    project.search(scope, queries.wide[i] as Float32Array<ArrayBuffer>, limit);
  });
  const text = [...plans].map(([plan, count]) => {
    const share = Math.round((100 * count) / queries.wide.length);
    return share === 100 ? plan : `${plan} ${share}%`;
  });
  const low = shares.filter((share) => share < LOW_RECALL).length;
  return { recall: mean(shares), low, plans: text.join(", "), microseconds };
}

/** Measures one way of arrival, and prints each row at once. */
function measureArrival(
  out: Output,
  plan: Plan,
  project: Project,
  kinds: readonly Queries[],
  curveOf: CurveOf,
  arrival: string,
): Measured[] {
  const rows: Measured[] = [];
  for (const queries of kinds) {
    findTruth(project, queries, plan);
    for (const scope of plan.scopes) {
      for (const limit of plan.limits) {
        const measured = measure(project, queries, scope, limit);
        const { recall, low, plans, microseconds } = measured;
        const curve = curveOf(queries, scope, limit);
        const ratio = curve === null ? "-" : ratioText(curve, recall, microseconds);
        const cells = [recall.toFixed(4), low, plans, microseconds.toFixed(0), ratio];
        out.row(arrival, queries.name, scope, limit, ...cells);
        rows.push({ arrival, queries: queries.name, scope, limit, ...measured });
      }
    }
  }
  return rows;
}

function printSummary(out: Output, name: string, curves: Curves, rows: readonly Measured[]): void {
  out.line();
  for (const [what, points] of curves) {
    const text = points.map((point) => {
      return `${point.recall.toFixed(4)} in ${point.microseconds.toFixed(0)} us`;
    });
    out.line(`USearch, ${what}: ${text.join(", ")}`);
  }
  const { recall, arrival, queries, scope, limit } = rows.reduce((a, b) =>
    b.recall < a.recall ? b : a,
  );
  const where = recall === 1 ? "" : ` (${arrival}, ${queries}, ${scope}, ${limit})`;
  out.line(`\nlowest recall of ${name}: ${recall.toFixed(4)}${where}`);
}

/** What was measured on one data set. */
interface Figures {
  readonly data: string;
  readonly rows: readonly Measured[];
  /** Recall and cost of USearch at growing expansions, by queries, scope and limit. */
  readonly baselines: Curves;
}

function measureData(out: Output, options: Options, data: DataSet, folder: string): Figures {
  const base = padded(data.base);
  const kinds = queriesOf(data);
  const scopes = options.scopes.split(",");
  const plan = { scopes, limits: options.limits.split(",").map(Number) };
  const members = new Map(scopes.map((scope) => [scope, rowsOf(data.base, scope)]));
  const { curveOf, curves } = baselineOf(options, data, members, folder);
  out.line(`\n${data.name}: ${data.base.rows} x ${data.base.dimension}`);
  out.head("arrival", "queries", "scope", "k", "recall", "low", "plan", "CPU us", "ratio");
  const measured: Measured[] = [];
  for (const order of options.orders.split(",")) {
    const rows = orderOf(data.base, order);
    for (const arrival of options.arrivals.split(",")) {
      const project = new Project(base, rows, arrival);
      for (const [scope, list] of members) project.setScope(scope, list);
      const name = `${order}, ${arrival}`;
      measured.push(...measureArrival(out, plan, project, kinds, curveOf, name));
      project.drop();
    }
  }
  printSummary(out, data.name, curves, measured);
  return { data: data.name, rows: measured, baselines: curves };
}

export async function run(options: Options, { out }: BenchContext): Promise<Figures[]> {
  const temporary = temporaryFolder("recall");
  const all: Figures[] = [];
  for (const data of dataSets(options)) {
    all.push(measureData(out, options, data, options.folder === "" ? temporary : options.folder));
  }
  return all;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

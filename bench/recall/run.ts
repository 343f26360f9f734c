/**
 * Recall and CPU per query over data sets, orders of arrival, scopes and limits, against USearch.
 *
 *   bun bench/recall/run.ts [--data clusters,uniform,duplicates,text] [--vectors 5000,20000]
 *                           [--dimension 768] [--count 300]
 *                           [--base FILE --queries FILE,FILE]
 *                           [--orders given,shuffled,topics] [--arrivals bulk,batches]
 *                           [--scopes 100%,50%,topical,10%,1%] [--limits 10,100]
 *                           [--no-baseline] [--scope-baselines] [--folder DIR] [--tiny]
 *
 * All in one process, without HTTP. Files are .f32 and .f16 (little-endian, with --dimension), .fvecs
 * or .npy. `--count` is the number of queries per kind.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../support/bench/options.ts";
import { cpuMicroseconds } from "../../support/bench/process-usage.ts";
import { printHead, printRow } from "../../support/bench/table.ts";
import { mean } from "../../support/statistics.ts";
import { type Matrix, padded } from "../../support/vector-files.ts";
import { orderOf, rowsOf } from "./arrangement.ts";
import { type DataSet, dataSets, rowOf } from "./data-sets.ts";
import { foundOf, Project } from "./project.ts";
import { Baseline, ratioText } from "./usearch.ts";
import { workRatio } from "./work.ts";

const options = readOptions({
  data: "clusters,uniform,duplicates,text",
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
  tiny: false,
});
const sizes = options.tiny ? { vectors: "400", count: 10 } : {};
const limits = options.limits.split(",").map(Number);
const scopes = options.scopes.split(",");
const WHOLE = "100%";

/** One kind of query of a data set, with the true scores per scope once they are known. */
interface Queries {
  readonly name: string;
  /** For the index, and for the baseline, which needs no padding. */
  readonly wide: readonly Float32Array<ArrayBuffer>[];
  readonly plain: readonly Float32Array<ArrayBuffer>[];
  readonly truth: Map<string, Float64Array[]>;
}

interface Lowest {
  recall: number;
  where: string;
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
function findTruth(project: Project, queries: Queries): void {
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

function baselineOf(
  data: DataSet,
  members: Map<string, number[]>,
  folder: string,
): { curveOf: CurveOf; curves: ReadonlyMap<string, ReturnType<Baseline["curve"]>> } {
  const curves = new Map<string, ReturnType<Baseline["curve"]>>();
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
  const work = workRatio(project, scope, queries.wide, limit);
  return { recall: mean(shares), plans: text.join(", "), work, microseconds };
}

/** Measures one way of arrival and returns the lowest recall. */
function measureArrival(
  project: Project,
  kinds: readonly Queries[],
  curveOf: CurveOf,
  arrival: string,
): Lowest {
  const lowest = { recall: 1, where: "" };
  for (const queries of kinds) {
    findTruth(project, queries);
    for (const scope of scopes) {
      for (const limit of limits) {
        const { recall, plans, work, microseconds } = measure(project, queries, scope, limit);
        const curve = curveOf(queries, scope, limit);
        const ratio = curve === null ? "-" : ratioText(curve, recall, microseconds);
        const cells = [recall.toFixed(4), plans, work.toFixed(2), microseconds.toFixed(0), ratio];
        printRow(arrival, queries.name, scope, limit, ...cells);
        if (recall >= lowest.recall) continue;
        Object.assign(lowest, { recall, where: `${arrival}, ${queries.name}, ${scope}, ${limit}` });
      }
    }
  }
  return lowest;
}

function measureData(data: DataSet, folder: string): void {
  const base = padded(data.base);
  const kinds = queriesOf(data);
  const members = new Map(scopes.map((scope) => [scope, rowsOf(data.base, scope)]));
  const { curveOf, curves } = baselineOf(data, members, folder);
  process.stdout.write(`\n${data.name}: ${data.base.rows} x ${data.base.dimension}\n`);
  printHead("arrival", "queries", "scope", "k", "recall", "plan", "work", "CPU us", "ratio");
  const lowest: Lowest[] = [];
  for (const order of options.orders.split(",")) {
    const rows = orderOf(data.base, order);
    for (const arrival of options.arrivals.split(",")) {
      const project = new Project(base, rows, arrival);
      for (const [scope, list] of members) project.setScope(scope, list);
      lowest.push(measureArrival(project, kinds, curveOf, `${order}, ${arrival}`));
      project.drop();
    }
  }
  process.stdout.write("\n");
  for (const [what, points] of curves) {
    const text = points.map((point) => {
      return `${point.recall.toFixed(4)} in ${point.microseconds.toFixed(0)} us`;
    });
    process.stdout.write(`USearch, ${what}: ${text.join(", ")}\n`);
  }
  const worst = lowest.reduce((a, b) => (b.recall < a.recall ? b : a));
  const where = worst.where === "" ? "" : ` (${worst.where})`;
  process.stdout.write(`\nlowest recall of ${data.name}: ${worst.recall.toFixed(4)}${where}\n`);
}

const temporary = mkdtempSync(join(tmpdir(), "tessera-recall-"));
try {
  for (const data of dataSets({ ...options, ...sizes })) {
    measureData(data, options.folder === "" ? temporary : options.folder);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/**
 * Relevance of lookup compared with MiniSearch, SQLite FTS5 and BM25: the mean reciprocal rank of
 * known items, and the nDCG@10 of queries that people judged.
 *
 *   bun bench/knowledge/relevance.ts [--folder FOLDER] [--seed 1] [--queries 150]
 *                                    [--judged FOLDER,FOLDER...]
 *
 * `--folder` holds Markdown files, `--queries` is the number of queries per kind. A folder of
 * `--judged` holds `documents.ndjson` and `queries.ndjson`; see README.md.
 */

import { basename } from "node:path";
import type { KnowledgeDocument } from "../../src/text/index.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { Output } from "../harness/table.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { meanNdcg, readJudged } from "../relevance/judged.ts";
import { type Measurement, measure } from "../relevance/measure.ts";
import { KINDS, knownItemQueries } from "../relevance/queries.ts";
import { tessera } from "../relevance/tessera.ts";
import { baselines } from "./baseline.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  seed: 1,
  queries: 150,
  judged: "",
};
type Options = typeof OPTIONS;

/** Measurements by the name of the system; Tessera is the first. */
interface KnownItems {
  readonly documents: number;
  readonly queries: number;
  readonly systems: ReadonlyArray<readonly [name: string, measured: Measurement]>;
}

interface Judged {
  readonly collection: string;
  readonly documents: number;
  readonly queries: number;
  readonly systems: ReadonlyArray<readonly [name: string, ndcg: number]>;
}

const systemsOf = (documents: readonly KnowledgeDocument[]) => [
  ["Tessera", tessera(documents)] as const,
  ...baselines(documents),
];

function measureKnownItems({ folder, seed, queries: perKind }: Options): KnownItems {
  const documents = readCorpus(folder);
  const queries = knownItemQueries(documents, seed, perKind);
  const systems = systemsOf(documents).map(
    ([name, system]) => [name, measure(system, queries)] as const,
  );
  return { documents: documents.length, queries: queries.length, systems };
}

function printKnownItems(out: Output, seed: number, { documents, queries, systems }: KnownItems) {
  out.line(`${documents} documents, ${queries} queries, seed ${seed}`);
  const own = systems[0]?.[1].all ?? 0;
  out.frames(
    systems.map(([name, measured]) => ({
      system: name,
      ...Object.fromEntries(KINDS.map((kind) => [kind, measured.byKind[kind].toFixed(3)])),
      all: measured.all.toFixed(3),
      "Tessera is": `${(own / measured.all).toFixed(2)}x`,
      "p50 us": measured.p50Micros.toFixed(0),
      "p99 us": measured.p99Micros.toFixed(0),
    })),
  );
}

function measureJudged(folder: string): Judged {
  const { documents, queries } = readJudged(folder);
  const systems = systemsOf(documents).map(
    ([name, system]) => [name, meanNdcg(system, queries)] as const,
  );
  const counts = { documents: documents.length, queries: queries.length };
  return { collection: basename(folder), ...counts, systems };
}

function printJudged(out: Output, { collection, documents, queries, systems }: Judged): void {
  out.line(`${collection}: ${documents} documents, ${queries} queries`);
  const own = systems[0]?.[1] ?? 0;
  out.frames(
    systems.map(([name, ndcg]) => ({
      system: name,
      "nDCG@10": ndcg.toFixed(3),
      "Tessera is": `${(own / ndcg).toFixed(2)}x`,
    })),
  );
}

export async function run(options: Options, { out }: BenchContext) {
  const knownItems = measureKnownItems(options);
  printKnownItems(out, options.seed, knownItems);
  const folders = options.judged.split(",").filter((folder) => folder !== "");
  const judged = folders.map((folder) => {
    const measured = measureJudged(folder);
    printJudged(out, measured);
    return measured;
  });
  return { knownItems, judged };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

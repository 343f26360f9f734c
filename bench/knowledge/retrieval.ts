/**
 * Relevance of retrieval by text, by vector and by both: the mean reciprocal rank of known items, and the
 * nDCG@10 of queries that people judged.
 *
 *   bun bench/knowledge/retrieval.ts [--folder FOLDER] [--seed 1] [--queries 150]
 *                                    [--judged FOLDER,FOLDER...] [--dimension 384]
 *
 * `--folder` holds Markdown files, whose vectors are made by feature hashing. A folder of `--judged` holds
 * what `relevance.ts` reads, and `documents.f16` and `queries.f16` with the vectors of both.
 */

import { basename } from "node:path";
import { embed, embedPassage } from "../../src/import/embedders/feature-hashing.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { Output } from "../harness/table.ts";
import { type Matrix, padded, readVectors } from "../harness/vector-files.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { meanNdcg, readJudged } from "../relevance/judged.ts";
import { measure, RANKS } from "../relevance/measure.ts";
import { knownItemQueries } from "../relevance/queries.ts";
import { MODES, Retriever, type VectorOf } from "../relevance/retriever.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  seed: 1,
  queries: 150,
  judged: "",
  dimension: 384,
};
type Options = typeof OPTIONS;

/** A measure by mode. */
type ByMode = Readonly<Record<(typeof MODES)[number], number>>;

interface Measured {
  readonly collection: string;
  readonly documents: number;
  readonly queries: number;
  readonly measure: string;
  readonly byMode: ByMode;
}

const byMode = (measure: (mode: (typeof MODES)[number]) => number) =>
  Object.fromEntries(MODES.map((mode) => [mode, measure(mode)])) as ByMode;

function measureKnownItems({ folder, seed, queries: perKind }: Options): Measured {
  const documents = readCorpus(folder);
  const queries = knownItemQueries(documents, seed, perKind);
  const passages = documents.map(({ title, content }) => embedPassage([title], content));
  const retriever = new Retriever(documents, passages);
  const vectorOf = (text: string) => embed(text) as Float32Array<ArrayBuffer>;
  const measured = byMode(
    (mode) => measure((text) => retriever.paths(mode, text, vectorOf(text), RANKS), queries).all,
  );
  retriever.close();
  const counts = { documents: documents.length, queries: queries.length };
  return { collection: "known items", ...counts, measure: "MRR", byMode: measured };
}

/** The rows of a matrix. One of zeros, which has no direction, gets one that no other vector has. */
const rowsOf = ({ rows, dimension, values }: Matrix) =>
  Array.from({ length: rows }, (_, i) => {
    const row = values.slice(i * dimension, (i + 1) * dimension);
    if (row.every((element) => element === 0)) row[dimension - 1] = 1;
    return row;
  });

function measureJudged(folder: string, dimension: number): Measured {
  const { documents, queries } = readJudged(folder);
  const read = (name: string) => rowsOf(padded(readVectors(`${folder}/${name}`, dimension)));
  const retriever = new Retriever(documents, read("documents.f16"));
  const vectors = read("queries.f16");
  const known = new Map(queries.map(({ text }, i) => [text, vectors[i]]));
  const vectorOf: VectorOf = (text) => known.get(text) as Float32Array<ArrayBuffer>;
  const ndcg = byMode((mode) =>
    meanNdcg((text) => retriever.paths(mode, text, vectorOf(text), 10), queries),
  );
  retriever.close();
  const counts = { documents: documents.length, queries: queries.length };
  return { collection: basename(folder), ...counts, measure: "nDCG@10", byMode: ndcg };
}

function print(out: Output, rows: readonly Measured[]): void {
  out.frames(
    rows.map(({ byMode: { keyword, semantic, hybrid }, ...row }) => ({
      ...row,
      keyword: keyword.toFixed(3),
      semantic: semantic.toFixed(3),
      hybrid: hybrid.toFixed(3),
      "hybrid is": `${(hybrid / Math.max(keyword, semantic)).toFixed(3)}x`,
    })),
  );
}

export async function run(options: Options, { out }: BenchContext): Promise<readonly Measured[]> {
  const folders = options.judged.split(",").filter((folder) => folder !== "");
  const measured = [
    measureKnownItems(options),
    ...folders.map((folder) => measureJudged(folder, options.dimension)),
  ];
  print(out, measured);
  return measured;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

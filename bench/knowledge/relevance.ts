/**
 * Relevance of lookups and of retrievals by text, by vector and by both, compared with MiniSearch, SQLite FTS5 and
 * BM25: the mean reciprocal rank of known items, and the nDCG@10 of queries that people judged.
 *
 *   bun bench/knowledge/relevance.ts [--folder FOLDER] [--seed 1] [--queries 150]
 *                                    [--judged FOLDER,FOLDER...] [--dimension 384]
 *
 * `--folder` holds Markdown files, whose vectors are made by feature hashing, `--queries` is the number of queries
 * per kind. A folder of `--judged` holds `documents.ndjson` and `queries.ndjson`, and for retrievals by vector
 * `documents.f16` and `queries.f16` with the vectors of both; see README.md.
 */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { embed, embedPassage } from "../../src/embed/embedders/feature-hashing.ts";
import { buildSegment, type KnowledgeDocument } from "../../src/index/segments/index.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import type { Output } from "../harness/table.ts";
import { type Matrix, padded, readVectors, rowOf } from "../harness/vector-files.ts";
import { readCorpus } from "../relevance/corpus.ts";
import { meanNdcg, readJudged } from "../relevance/judged.ts";
import { measure, RANKS, type SearchSystem } from "../relevance/measure.ts";
import { KINDS, knownItemQueries } from "../relevance/queries.ts";
import { MODES, Retriever, type VectorOf } from "../relevance/retriever.ts";
import { tessera } from "../relevance/tessera.ts";
import { baselines } from "./baseline.ts";

export const OPTIONS = {
  folder: `${import.meta.dir}/../../fixtures/docs`,
  seed: 1,
  queries: 150,
  judged: "",
  dimension: 384,
};
type Options = typeof OPTIONS;

/** Results of a query that count where people judged. */
const JUDGED_RANKS = 10;

/** The vectors of documents, and of any query. */
interface Vectors {
  readonly documents: readonly Float32Array[];
  readonly of: VectorOf;
}

/** A system by its name; Tessera's lookup is the first. */
type System = readonly [name: string, system: SearchSystem];

/** Measures every system, and prints a table of what `read` makes of each. */
function compare<T>(
  out: Output,
  {
    documents,
    vectors,
    limit,
  }: { documents: KnowledgeDocument[]; vectors?: Vectors; limit: number },
  measureOne: (system: SearchSystem) => T,
  score: (measured: T) => number,
  columns: (measured: T) => object,
): Array<readonly [name: string, measured: T]> {
  const retriever = vectors && new Retriever(documents, vectors.documents);
  const modes = MODES.map((mode): System => {
    const paths = (text: string) =>
      retriever?.paths(mode, text, vectors?.of(text) as Float32Array<ArrayBuffer>, limit) ?? [];
    return [`retrieval, ${mode}`, paths];
  });
  const systems: System[] = [
    ["Tessera", tessera(documents)],
    ...(retriever === undefined ? [] : modes),
    ...baselines(documents),
  ];
  const all = systems.map(([name, system]) => [name, measureOne(system)] as const);
  retriever?.close();
  const own = score((all[0] as (typeof all)[number])[1]);
  out.frames(
    all.map(([system, measured]) => ({
      system,
      ...columns(measured),
      "Tessera is": `${(own / score(measured)).toFixed(2)}x`,
    })),
  );
  return all;
}

function measureKnownItems(out: Output, { folder, seed, queries: perKind }: Options) {
  const documents = readCorpus(folder);
  const queries = knownItemQueries(documents, seed, perKind);
  out.line(
    `${documents.length} documents, ${queries.length} queries, seed ${seed}: mean reciprocal rank`,
  );
  const bytes = buildSegment(documents).byteLength / documents.length;
  out.line(`${(bytes / 1_024).toFixed(1)} KiB of memory per document`);
  const vectors = {
    documents: documents.map(({ title, content }) => embedPassage([title], content)),
    of: (text: string) => embed(text) as Float32Array<ArrayBuffer>,
  };
  return compare(
    out,
    { documents, vectors, limit: RANKS },
    (system) => measure(system, queries),
    ({ all }) => all,
    ({ byKind, all, p50Micros, p99Micros }) => ({
      ...Object.fromEntries(KINDS.map((kind) => [kind, byKind[kind].toFixed(3)])),
      all: all.toFixed(3),
      "p50 us": p50Micros.toFixed(0),
      "p99 us": p99Micros.toFixed(0),
    }),
  );
}

/** The rows of a matrix. One of zeros, which has no direction, gets one that no other vector has. */
const rowsOf = (matrix: Matrix) =>
  Array.from({ length: matrix.rows }, (_, i) => {
    const row = rowOf(matrix, i);
    if (row.every((element) => element === 0)) row[matrix.dimension - 1] = 1;
    return row;
  });

function judgedVectors(folder: string, dimension: number, texts: readonly string[]): Vectors {
  const read = (name: string) => rowsOf(padded(readVectors(join(folder, name), dimension)));
  const queries = read("queries.f16");
  const known = new Map(texts.map((text, i) => [text, queries[i]]));
  return {
    documents: read("documents.f16"),
    of: (text) => known.get(text) as Float32Array<ArrayBuffer>,
  };
}

function measureJudged(out: Output, folder: string, dimension: number) {
  const { documents, queries } = readJudged(folder);
  out.line(`${basename(folder)}: ${documents.length} documents, ${queries.length} queries`);
  const texts = queries.map(({ text }) => text);
  const hasVectors = existsSync(join(folder, "documents.f16"));
  return compare(
    out,
    {
      documents,
      ...(hasVectors ? { vectors: judgedVectors(folder, dimension, texts) } : {}),
      limit: JUDGED_RANKS,
    },
    (system) => meanNdcg(system, queries),
    (ndcg) => ndcg,
    (ndcg) => ({ "nDCG@10": ndcg.toFixed(3) }),
  );
}

export async function run(options: Options, { out }: BenchContext) {
  const knownItems = measureKnownItems(out, options);
  const folders = options.judged.split(",").filter((folder) => folder !== "");
  const judged = folders.map((folder) => measureJudged(out, folder, options.dimension));
  return { knownItems, judged };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);

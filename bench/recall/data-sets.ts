import { basename } from "node:path";
import { type DataKind, makeVectors } from "../../support/vectors.ts";
import { type Matrix, readVectors } from "../harness/vector-files.ts";
import { DOCUMENTS, type EncodedKind, encoder, QUESTIONS } from "./encoder-vectors.ts";

/** Vectors to index, and queries of them by kind. */
export interface DataSet {
  readonly name: string;
  readonly base: Matrix;
  readonly queries: ReadonlyArray<{ readonly name: string; readonly vectors: Matrix }>;
}

const SEED = 1;

function firstRows({ values, dimension, rows }: Matrix, count: number): Matrix {
  const kept = Math.min(rows, count);
  return { rows: kept, dimension, values: values.slice(0, kept * dimension) };
}

/** Passages as a sentence encoder embeds them, and questions about them. */
function encoded(rows: number, dimension: number, queries: number): DataSet {
  const encode = encoder(dimension, SEED);
  const drawn = (kind: EncodedKind, count: number): Matrix => {
    const values = new Float32Array(count * dimension);
    for (let row = 0; row < count; row++) values.set(encode(kind), row * dimension);
    return { rows: count, dimension, values };
  };
  const base = drawn(DOCUMENTS, rows);
  const passages = { name: "held-out", vectors: drawn(DOCUMENTS, queries) };
  const questions = { name: "questions", vectors: drawn(QUESTIONS, queries) };
  return { name: "encoder", base, queries: [passages, questions] };
}

function generated(kind: DataKind, rows: number, dimension: number, queries: number): DataSet {
  // One generation, so that the queries are held-out members.
  const all = makeVectors(kind, rows + queries, dimension, SEED);
  const heldOut = { rows: queries, dimension, values: all.slice(rows * dimension) };
  const sets = [{ name: "held-out", vectors: heldOut }];
  if (kind === "text") {
    // The same spectrum, but other topics.
    const values = makeVectors(kind, queries, dimension, SEED + 1_000);
    sets.push({ name: "other topics", vectors: { rows: queries, dimension, values } });
  }
  const base = { rows, dimension, values: all.slice(0, rows * dimension) };
  return { name: kind, base, queries: sets };
}

interface DataOptions {
  /** Kinds of generated data, separated by commas. */
  readonly data: string;
  /** Numbers of generated vectors, separated by commas. */
  readonly vectors: string;
  readonly dimension: number;
  readonly count: number;
  /** A file of vectors to index; empty to generate them. */
  readonly base: string;
  /** Files of queries, separated by commas. */
  readonly queries: string;
}

/** The data sets that the options name, one at a time: each may take a lot of memory. */
export function* dataSets(options: DataOptions): Generator<DataSet> {
  const { data, vectors, dimension, count, base, queries } = options;
  if (base === "") {
    for (const kind of data.split(",")) {
      for (const rows of vectors.split(",")) {
        yield kind === "encoder"
          ? encoded(Number(rows), dimension, count)
          : generated(kind as DataKind, Number(rows), dimension, count);
      }
    }
    return;
  }
  const paths = queries.split(",").filter((path) => path !== "");
  if (paths.length === 0) throw new Error("--base needs --queries");
  yield {
    name: basename(base),
    base: readVectors(base, dimension),
    queries: paths.map((path) => ({
      name: basename(path),
      vectors: firstRows(readVectors(path, dimension), count),
    })),
  };
}

import { existsSync } from "node:fs";
import { CommandError } from "../../src/cli/command-error.ts";
import {
  loadVectors,
  type Matrix,
  padded,
  readNeighbours,
  rowOf,
} from "../harness/vector-files.ts";
import { generate, importRows, untilComplete } from "./data.ts";
import type { LoadOptions } from "./options.ts";
import { drawQueries, sample } from "./queries.ts";
import type { Service } from "./service.ts";
import { scoresByBruteForce, scoresByExactMode, type Truth } from "./truth.ts";

const GENERATED_DIMENSION = 768;

/** What is searched for, and what is true about it. */
export interface Inputs {
  /** In a dimension that the service has indexes for. */
  readonly queries: Matrix;
  readonly queriesFrom: string;
  /** Of the first queries; empty when recall is not measured. */
  readonly truth: readonly Truth[];
  readonly truthFrom: string | null;
  readonly vectors: number | null;
  readonly bytesPerVector: number | null;
}

/** What says where data and queries are from. */
type SourceOptions = Pick<
  LoadOptions,
  "data" | "generate" | "vectors" | "queryCount" | "dimension" | "column"
>;

type ReadOptions = Pick<LoadOptions, "dimension" | "column">;

async function read(path: string, { dimension = 0, column }: ReadOptions): Promise<Matrix> {
  if (!existsSync(path)) throw new CommandError(`there is no file ${path}`);
  try {
    return await loadVectors(path, { dimension, column });
  } catch (error) {
    const needsDimension = dimension === 0 && /\.f(32|16)$/.test(path);
    const remedy = needsDimension ? "; name the elements per vector with --dimension" : "";
    throw new CommandError(`${error instanceof Error ? error.message : error}${remedy}`);
  }
}

interface Source {
  readonly data?: Matrix;
  readonly heldOut?: Matrix;
}

/** The vectors to import, if any, and generated queries. */
export async function readData(options: SourceOptions): Promise<Source> {
  const { data, generate: kind, vectors, queryCount, dimension } = options;
  if (data !== undefined && kind !== undefined) {
    throw new CommandError("--data and --generate exclude each other");
  }
  if (data !== undefined) return { data: await read(data, options) };
  if (kind === undefined) return {};
  const made = generate(kind, vectors, queryCount, dimension ?? GENERATED_DIMENSION);
  return { data: made.data, heldOut: made.queries };
}

function rowsOf(data: Matrix, count: number): Matrix {
  const rows = sample(data.rows, count);
  const values = new Float32Array(rows.length * data.dimension);
  for (const [i, row] of rows.entries()) values.set(rowOf(data, row), i * data.dimension);
  return { rows: rows.length, dimension: data.dimension, values };
}

/** The queries, and where they are from. */
export async function findQueries(
  service: Service,
  options: Omit<SourceOptions, "vectors"> & Pick<LoadOptions, "queries">,
  source: Source,
) {
  if (options.queries !== undefined) {
    return { queries: await read(options.queries, options), from: `of ${options.queries}` };
  }
  if (source.heldOut !== undefined) return { queries: source.heldOut, from: "held out" };
  if (source.data !== undefined) {
    return { queries: rowsOf(source.data, options.queryCount), from: "that are rows of the data" };
  }
  const { queryCount, dimension } = options;
  return {
    queries: await drawQueries(service, queryCount, dimension),
    from: "that are chunks of the project",
  };
}

async function findTruth(
  service: Service,
  options: LoadOptions,
  source: Source,
  queries: Matrix,
): Promise<{ truth: readonly Truth[]; from: string | null }> {
  if (!options.recall) return { truth: [], from: null };
  const count = Math.min(options.recallQueries, queries.rows);
  const limit = Math.max(options.limit, ...(options.limits ?? []));
  if (options.truth !== undefined) {
    const rows = readNeighbours(options.truth).slice(0, count);
    return { truth: rows.map((each) => ({ kind: "rows", rows: each })), from: options.truth };
  }
  if (source.data !== undefined) {
    const truth = scoresByBruteForce(padded(source.data), queries, count, limit);
    return { truth, from: "brute force over the data" };
  }
  const truth = await scoresByExactMode(service, queries, count, limit);
  return { truth, from: "the service's exact mode" };
}

/** Imports what is given, waits for a complete index, and finds queries and their true answers. */
export async function loadInputs(service: Service, options: LoadOptions): Promise<Inputs> {
  if (
    options.truth !== undefined &&
    (options.data === undefined || options.queries === undefined)
  ) {
    throw new CommandError("--truth has row numbers of --data per query of --queries: give both");
  }
  const source = await readData(options);
  if (source.data !== undefined) await importRows(service, source.data);
  const found = await findQueries(service, options, source);
  const { data } = source;
  if (data !== undefined && data.dimension !== found.queries.dimension) {
    const lengths = `${data.dimension} and ${found.queries.dimension}`;
    throw new CommandError(`the data and the queries differ in their dimension: ${lengths}`);
  }
  const queries = padded(found.queries);
  // A first search loads a project that is not in memory.
  await service.search(
    JSON.stringify({ vector: Array.from(rowOf(queries, 0)), dimension: queries.dimension }),
  );
  const index =
    options.wait === false ? null : await untilComplete(service, queries.dimension, options.wait);
  const { truth, from } = await findTruth(service, options, source, queries);
  return {
    queries,
    queriesFrom: found.from,
    truth,
    truthFrom: from,
    vectors: index?.vectors ?? null,
    bytesPerVector: index === null ? null : index.bytes / index.vectors,
  };
}

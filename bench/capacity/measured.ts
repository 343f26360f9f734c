/** What the simulator starts from: figures that were measured, each with where it is written down. */
interface Measured {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly where: string;
}

const measured = (value: number, unit: string, what: string, where: string): Measured => ({
  ...{ value, unit, what, where },
});

const SIZING = "docs/operations.md, Sizing";
const OWN = "bench/capacity/README.md, Measured for this";
const PGVECTOR = "docs/pgvector.md";

export const MEASURED = {
  hotPerElement: measured(0.375, "bytes", "codes, per element of a vector", SIZING),
  hotPerVector: measured(256, "bytes", "links and bookkeeping, per vector", SIZING),
  mappedPerVector: measured(750, "bytes", "chunk in mapped files, beside its vector", SIZING),
  databasePerVector: measured(2_000, "bytes", "chunk in PostgreSQL, beside its vector", SIZING),
  fullVectorsRead: measured(48, "vectors", "read in full per search", SIZING),
  textPerDocument: measured(3_482, "bytes", "text index, per document", SIZING),
  process: measured(89_128_960, "bytes", "process beside its indexes", "bench/nodes/README.md"),
  indexShare: measured(0.6, "share", "memory that indexes may use by default", "README.md"),
  request: measured(0.062, "ms", "CPU of a search beside its native part", OWN),
  walk: measured(0.096, "ms", "native part among 24,996 vectors of 768, text", OWN),
  walkFrom: measured(24_996, "vectors", "size at which that was measured", OWN),
  smallGrowth: measured(0.16, "exponent", "CPU of a graph, 15,000 to 60,000", "docs/operations.md"),
  largeGrowth: measured(0.415, "exponent", "estimates, 250,000 to 500,000", "native/README.md"),
  dimensionGrowth: measured(0.28, "share", "more CPU for 1,536 elements than for 768", OWN),
  mainThread: measured(0.052, "ms", "all threads, plain read over HTTP", "bench/rest/README.md"),
  readPerSecond: measured(
    4_000,
    "chunks/s",
    "read and indexed by a node",
    "bench/search/README.md",
  ),
  restore: measured(19, "us/vector", "load from a shared snapshot", "bench/nodes/README.md"),
  requestWait: measured(15, "s", "a request waits for its project", "src/indexing/README.md"),
  queue: measured(0.025, "s", "work that waits in the queue of a node", "src/http/README.md"),
  connections: measured(29, "connections", "of a node to PostgreSQL", OWN),
  commits: measured(1_476, "commits/s", "changes of scopes by 16 projects", OWN),
  pgvectorSearch: measured(3.06, "ms", "PostgreSQL's CPU, 24,000 x 768, graph", PGVECTOR),
  pgvectorFrom: measured(24_000, "vectors", "size at which it was measured", PGVECTOR),
  pgvectorStored: measured(10_000, "vectors/s", "stored by the leader", PGVECTOR),
  pgvectorGraph: measured(595, "bytes", "graph over codes, per vector of 768", PGVECTOR),
  pgvectorRead: measured(50, "reads", "40 rows and 10 vectors, per placement", PGVECTOR),
} as const;

/** CPU of a search by the share of the project's vectors in its scope, to that of all (README of this folder). */
export const SCOPE_CPU: readonly (readonly [share: number, factor: number])[] = [
  [1, 1],
  [0.5, 0.85],
  [0.1, 1.29],
  [0.02, 1.57],
  [0.005, 0.6],
];

export const figure = (name: keyof typeof MEASURED): number => MEASURED[name].value;

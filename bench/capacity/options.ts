/** Prices are examples: give those of your provider. */
export const OPTIONS = {
  dimension: 768,
  /** Exponents of Zipf's law for the sizes and the popularity of projects. */
  sizes: 0.5,
  popularity: 1,
  /** Searches per second and project, on average. */
  rate: 10,
  /** Share of a project's vectors that a search covers. */
  scope: 1,
  /** Chunks per document. */
  document: 4,
  shard: 524_288,
  /** Share of the vectors that change per day, chunks per commit. */
  changes: 0.01,
  commit: 10,
  /** Seconds in which the projects of a dead node have to be searchable again. */
  recovery: 300,
  /** Days that a first fill may take. */
  fill: 3,
  /** Share of the cores that searches may use. */
  busy: 0.6,
  /** Random reads of 4 KiB per second of a node's disk, and the largest disk of a database in TB. */
  reads: 100_000,
  volume: 16,
  gibPerCore: 8,
  largest: 2_048,
  coreHour: 0.03,
  gibHour: 0.004,
  diskMonth: 0.1,
  seed: 1,
};
export type Options = typeof OPTIONS;

import { figure } from "./measured.ts";
import type { Options } from "./options.ts";

/** Something that a fleet can run out of. */
export interface Limit<F> {
  readonly name: string;
  /** What is used of it, 1 for all; infinite where there is none. */
  readonly use: number;
  readonly remedy: string;
  /** The fleet with more of it; undefined where nothing in the product removes the limit. */
  readonly grown?: F | undefined;
}

export interface Sized<F> {
  readonly fleet: F;
  /** The bottlenecks in the order in which growth met them, once each. */
  readonly met: readonly Limit<F>[];
  /** Those that are left. */
  readonly open: readonly Limit<F>[];
}

const GROWTHS_MAX = 2_000;

/** Grows a fleet at its narrowest place until nothing is used beyond its limit, or nothing helps. */
export function size<F>(start: F, limits: (fleet: F) => readonly Limit<F>[]): Sized<F> {
  const met = new Map<string, Limit<F>>();
  const stuck = new Set<string>();
  let fleet = start;
  for (let growth = 0; growth < GROWTHS_MAX; growth++) {
    const over = limits(fleet).filter(({ use }) => use > 1);
    const [worst] = over.filter(({ name }) => !stuck.has(name)).sort((a, b) => b.use - a.use);
    if (worst === undefined) return { fleet, met: [...met.values()], open: over };
    if (!met.has(worst.name) || worst.grown === undefined) met.set(worst.name, worst);
    if (worst.grown === undefined) stuck.add(worst.name);
    fleet = worst.grown ?? fleet;
  }
  throw new Error("the fleet does not stop growing");
}

export const GIB = 2 ** 30;
const TERABYTE = 1e12;
const SECONDS_OF_DAY = 86_400;
const PROCESS = figure("process");

/** Bytes that indexes may use on a node. */
export const indexBytes = (gib: number): number => gib * GIB * figure("indexShare") - PROCESS;

/** Bytes that are left for pages of mapped files. */
export const pageBytes = (gib: number): number => gib * GIB * (1 - figure("indexShare"));

/** Processor seconds per second that searches may use; one core is left to indexing. */
export const searchCores = (gib: number, { gibPerCore, busy }: Options): number =>
  Math.max(1, gib / gibPerCore - 1) * busy;

/** What the platform's database has to bear, whichever engine searches. */
export function databaseLimits<F extends { readonly connections: number; readonly commit: number }>(
  fleet: F,
  { nodes, vectors }: { readonly nodes: number; readonly vectors: number },
  options: Options,
): Limit<F>[] {
  const chunks = (vectors * options.changes) / SECONDS_OF_DAY;
  const stored = vectors * (4 * options.dimension + figure("databasePerVector"));
  return [
    {
      name: "PostgreSQL's connections",
      use: (nodes * figure("connections")) / fleet.connections,
      remedy: "a larger max_connections",
      grown: { ...fleet, connections: fleet.connections * 2 },
    },
    {
      name: "commits of the change log",
      use: chunks / fleet.commit / figure("commits"),
      remedy: "more chunks per commit",
      grown: { ...fleet, commit: fleet.commit * 2 },
    },
    {
      name: "PostgreSQL's disk",
      use: stored / (options.volume * TERABYTE),
      remedy: "a second installation with a database of its own",
    },
  ];
}

/** The first fill, at the rate of the whole installation. */
export const fillLimit = (
  vectors: number,
  perSecond: number,
  remedy: string,
  options: Options,
): Limit<never> => ({
  ...{ name: "the first fill", remedy },
  use: vectors / perSecond / (options.fill * SECONDS_OF_DAY),
});

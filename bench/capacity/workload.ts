import { randomNumbers } from "../../support/random.ts";
import { figure, SCOPE_CPU } from "./measured.ts";
import type { Options } from "./options.ts";

/** What one project asks of the node that holds it. */
export interface Project {
  readonly vectors: number;
  /** Bytes of memory that its indexes need. */
  readonly hot: number;
  /** Bytes of mapped files, which need not be in memory. */
  readonly mapped: number;
  /** Searches per second, and the CPU seconds of one. */
  readonly rate: number;
  readonly cpu: number;
}

const SMALL_GRAPH = 60_000;
const MILLISECONDS = 1_000;

/** CPU milliseconds of a walk through one graph. */
function walk(vectors: number): number {
  const from = figure("walkFrom");
  const small = (Math.min(Math.max(vectors, 1), SMALL_GRAPH) / from) ** figure("smallGrowth");
  const large = (Math.max(vectors, SMALL_GRAPH) / SMALL_GRAPH) ** figure("largeGrowth");
  return figure("walk") * small * large;
}

/** The factor of the nearest measured share. */
export function scopeFactor(share: number): number {
  const distance = ([measured]: readonly [number, number]) => Math.abs(Math.log(share / measured));
  return SCOPE_CPU.reduce((a, b) => (distance(b) < distance(a) ? b : a))[1];
}

/** CPU seconds of a search over a project: all its shards, one after another. */
export function searchCpu(vectors: number, { dimension, scope, shard }: Options): number {
  const full = Math.floor(vectors / shard);
  const walks = full * walk(shard) + (vectors % shard > 0 ? walk(vectors % shard) : 0);
  const wider = 1 + figure("dimensionGrowth") * (dimension / 768 - 1);
  const request = figure("request") * (dimension / 768);
  return (request + walks * wider * scopeFactor(scope)) / MILLISECONDS;
}

/** Bytes of the text index of so many chunks. */
export const textBytes = (chunks: number, { document }: Options): number =>
  (chunks / document) * figure("textPerDocument");

export function projectOf(vectors: number, rate: number, options: Options): Project {
  const { dimension } = options;
  const codes = figure("hotPerElement") * dimension + figure("hotPerVector");
  return {
    ...{ vectors, rate },
    hot: vectors * codes + textBytes(vectors, options),
    mapped: vectors * (4 * dimension + figure("mappedPerVector")),
    cpu: searchCpu(vectors, options),
  };
}

/** Shares that add up to 1, of which the k-th is proportional to k to the power of -`exponent`. */
export function zipf(count: number, exponent: number): number[] {
  const weights = Array.from({ length: count }, (_, k) => (k + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Projects of unequal sizes and popularity; how large one is says nothing about how popular it is. */
export function drawProjects(count: number, vectors: number, options: Options): Project[] {
  const random = randomNumbers(options.seed);
  const popularity = zipf(count, options.popularity)
    .map((share) => [random(), share] as const)
    .sort(([a], [b]) => a - b);
  return zipf(count, options.sizes).map((share, i) => {
    const size = Math.max(1, Math.round(share * count * vectors));
    return projectOf(size, (popularity[i]?.[1] ?? 0) * count * options.rate, options);
  });
}

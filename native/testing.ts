/**
 * Functions for tests and benchmarks: searches that return plain numbers, the brute-force reference, single
 * kernels, and snapshots that block the calling thread.
 */
import { addon, jobs, type Part } from "./addon.ts";
import { commitCompaction, ORDINAL_ROW_BITS, PLANS, type Plan, stats } from "./index.ts";
import type { Page } from "./text.ts";
import { wordBreaks } from "./words.ts";

/** Hits, best first; the arrays are parallel. */
interface RawAnswer {
  /** 16 bytes per hit. */
  ids: Uint8Array<ArrayBuffer>;
  ordinals: Uint32Array<ArrayBuffer>;
  /** Cosine similarity in full precision, -1..1. */
  scores: Float64Array<ArrayBuffer>;
  /** How the hits were found. */
  plan: Plan;
  milliseconds: number;
  work: SearchWork;
}

/** The counted work of a search, for comparing plans. */
interface SearchWork {
  /** Estimates from 1-bit codes, of a walk and of a scan. */
  estimates: number;
  /** Nodes whose links a walk followed. */
  expansions: number;
  codes3Bit: number;
  /** Full vectors. */
  vectors: number;
}

/** Bounds that both C++ and TypeScript define. */
interface Constants {
  dimensions: number[];
  defaultLimit: number;
  minLimit: number;
  maxLimit: number;
  defaultThreshold: number;
  minThreshold: number;
  maxThreshold: number;
  maxIgnoredFields: number;
  maxFieldFaults: number;
  maxBase64Chars: number;
  maxWordChars: number;
  maxSnippetChars: number;
  maxFacetValueChars: number;
}

/** A distinct word of a query; see native/src/text/segment/text_query.hpp. */
export interface AnalysedWord {
  readonly text: string;
  readonly raw: string;
  readonly count: number;
  readonly isPrefix: boolean;
  readonly isCharacter: boolean;
  readonly mayBeMisspelt: boolean;
  readonly isIdentifier: boolean;
  readonly isChance: boolean;
  readonly functionalIn: number;
  readonly pairs: number;
  readonly englishPairs: number;
  readonly parts: number;
}

/** The words of a query, and spellings of successive words as one. */
interface AnalysedQuery {
  readonly words: readonly AnalysedWord[];
  readonly joined: ReadonlyArray<{
    readonly first: number;
    readonly last: number;
    readonly text: string;
  }>;
}

type SearchArguments = [
  projectId: string,
  scopeId: string,
  vector: Float32Array | Uint8Array | ArrayBuffer,
  dimension: number,
  limit: number,
  threshold: number,
];

type Operands = [left: Uint8Array, right: Uint8Array];

interface Testing {
  /** Compares every member in full precision. Throws when the scope is not loaded. */
  exactSearch(...query: SearchArguments): NumberedPlan<RawAnswer>;
  /**
   * The hits of `search`, not rendered, by the cheapest plan or by the given one. Throws when the scope is not
   * loaded.
   */
  searchRaw(...query: [...SearchArguments, plan?: "scan" | "graph"]): NumberedPlan<RawAnswer>;
  /** Sets the minimum number of distinct vectors of a shard with a graph; returns the previous number. */
  setGraphNodes(nodes: number): number;
  /** Sets whether a search of several large shards may use several threads; returns the previous setting. */
  useHelpers(allowed: boolean): boolean;
  /** While true, jobs that this thread begins block it and return their results, not promises. */
  blockOnJobs(blocks: boolean): void;
  /** The sets of kernels that this processor supports, "portable" first and the fastest last. */
  kernelSets(): string[];
  /** Switches the whole process to another set. Throws a RangeError for one that is not supported. */
  useKernels(set: string): void;
  /** Runs one kernel of a set on raw operands; see native/src/kernels/kernels.hpp. */
  runKernel(set: string, operation: "dot" | "dot3Bit" | "dotLevels", ...operands: Operands): number;
  runKernel(set: string, operation: "dot1Bit", ...operands: Operands): Int32Array<ArrayBuffer>;
  runKernel(set: string, operation: "hadamard", ...operands: Operands): Float32Array<ArrayBuffer>;
  runKernel(set: string, operation: "roundToBytes", ...operands: Operands): Int8Array<ArrayBuffer>;
  constants(): Constants;
  /** SipHash with these rounds; the key has 16 bytes. Without one it is that of the tables of this process. */
  sipHash(rounds: "1-3" | "2-4", key: Uint8Array | undefined, message: Uint8Array): bigint;
  /** Bytes that all slabs of the process have reserved, and those in the heaps of glibc, 0 with another C library. */
  heldMemory(): { slabs: number; heap: number };
  /** The number of slots of its hash tables that are probed to find each vector of a dimension once. */
  hashProbes(projectId: string, dimension: number): number;
  /** The kind of a UTF-16 code unit; see `UnitKind` in native/src/text/analysis/folding.hpp. */
  unitKind(unit: number): number;
  /** The language that a value of frontmatter names, by its place in `stemLanguages`; null if it names none. */
  languageNamed(value: string): number | null;
  /** The surface form of a word, as stemmers read it: in lower case, composed, with its marks; "" if it is too long. */
  surfaceForm(word: string): string;
  analyseQuery(query: Pick<Page, "query" | "wordBreaks">): AnalysedQuery;
  /** The plain text of Markdown, as native code extracts it. */
  plainText(markdown: string): string;
  /** The heading of a chunk as it was rendered; null without one. */
  renderedHeading(json: string): string | null;
  /** The content of a rendered chunk; null if the text is of another form. */
  renderedContent(json: string): string | null;
}

type NumberedPlan<Answer> = Omit<Answer, "plan"> & { plan: number };

const testing = (addon as { testing: Testing }).testing;

export const {
  setGraphNodes,
  useHelpers,
  kernelSets,
  useKernels,
  runKernel,
  constants,
  sipHash,
  heldMemory,
  hashProbes,
  unitKind,
  languageNamed,
  surfaceForm,
  plainText,
  renderedHeading,
  renderedContent,
} = testing;

function named(answer: NumberedPlan<RawAnswer>): RawAnswer {
  return { ...answer, plan: PLANS[answer.plan] as Plan };
}

/** See `Testing`. */
export function exactSearch(...query: SearchArguments): RawAnswer {
  return named(testing.exactSearch(...query));
}

/** See `Testing`. */
export function searchRaw(...query: Parameters<Testing["searchRaw"]>): RawAnswer {
  return named(testing.searchRaw(...query));
}

/** The words of a query, as lookups and retrievals read them. */
export function analyseQuery(query: string): AnalysedQuery {
  return testing.analyseQuery({ query, wordBreaks });
}

const MAINTENANCE_POLL_MS = 50;

/** Waits for a job, which blocks the calling thread. */
function waitFor<Result>(begin: () => Promise<Result>): Result {
  testing.blockOnJobs(true);
  try {
    return begin() as Result;
  } finally {
    testing.blockOnJobs(false);
  }
}

/** (start, count) pairs that name every chunk of an index. */
export function everyOrdinal(projectId: string, dimension: number): Uint32Array {
  const part = stats(projectId)?.dimensions.find((entry) => entry.dimension === dimension);
  const rows = 2 ** ORDINAL_ROW_BITS;
  const pairs = Array.from({ length: part?.shards ?? 0 }, (_, shard) => [shard * rows, rows]);
  return Uint32Array.from(pairs.flat());
}

/**
 * Does all maintenance of an index, as the service does in the background. By default it keeps chunks that no scope
 * names.
 */
export function maintainSync(
  projectId: string,
  dimension: number,
  threads = 1,
  kept = everyOrdinal(projectId, dimension),
): void {
  for (;;) {
    const step = waitFor(() => jobs.beginMaintenance(projectId, dimension, kept, threads));
    if (step.compacted) commitCompaction(projectId);
    if (step.complete) return;
    // A graph with few new nodes waits for a moment for more nodes.
    if (!step.worked) Bun.sleepSync(MAINTENANCE_POLL_MS);
  }
}

/** `snapshot` that blocks the calling thread. */
export function snapshotSync(projectId: string, directory: string): readonly Part[] {
  return waitFor(() => jobs.beginSnapshot(projectId, directory));
}

/** `restore` that blocks the calling thread. Throws the error of a rejected promise. */
export function restoreSync(projectId: string, directory: string, parts: readonly Part[]): void {
  waitFor(() => jobs.beginRestore(projectId, directory, parts));
}

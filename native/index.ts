/**
 * The native search core: vectors, graphs, scopes and rendered chunks of the projects of this
 * process, and the searches over them.
 *
 * A *project* holds up to five *indexes*, one per dimension (768, 1024, 1536, 3072, 4096). An index
 * gives its chunks dense *ordinals* in order of arrival. A *scope* (an environment or a release) is
 * a set of ordinals per dimension. The registry belongs to the process: whatever one thread opens,
 * every worker thread searches.
 *
 * Every function throws a TypeError on arguments of a wrong shape before it touches any memory.
 * Searches may run in any number of threads while one thread appends, extends the graph, sets scopes
 * or writes snapshots.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { artefactPath, isFresh } from "./build.ts";

/** Chunks to append; all arrays describe the same `n` chunks in the same order. */
export interface AppendBatch {
  /** 16 bytes a chunk: its uuid in byte order. */
  ids: Uint8Array;
  /** `n * dimension` finite numbers; no vector may be all zero. Any norm. */
  vectors: Float32Array;
  /** The JSON texts of the chunks, concatenated, in UTF-8; none may be empty. */
  rendered: Uint8Array;
  /** Where the text of each chunk ends in `rendered`. */
  renderedEnds: Uint32Array;
}

/** Members of a scope: `ranges` holds (start, count) pairs of ordinals of one dimension. */
export interface ScopeRanges {
  dimension: number;
  ranges: Uint32Array;
}

/** The body is valid or not, but not plain: the caller must parse it, and answer its errors. */
export const UNUSUAL = 1;
/** The project or the scope is not in memory. */
export const NOT_RESIDENT = 2;

/** A complete JSON response body, or one of the two constants above. */
export type SearchOutcome = Uint8Array<ArrayBuffer> | typeof UNUSUAL | typeof NOT_RESIDENT;

/** A plain search body, with defaults filled in. */
export interface SearchBody {
  vector: Float32Array<ArrayBuffer>;
  dimension: number;
  limit: number;
  threshold: number;
}

/** Hits, best first; the arrays are parallel. */
export interface RawAnswer {
  /** 16 bytes a hit. */
  ids: Uint8Array<ArrayBuffer>;
  ordinals: Uint32Array<ArrayBuffer>;
  /** Cosine similarity in full precision, -1..1. */
  scores: Float64Array<ArrayBuffer>;
  /** How the answer was found: "empty", "exact", "scan" or "graph". */
  plan: string;
  milliseconds: number;
}

export interface IndexStats {
  dimension: number;
  /** Chunks. */
  vectors: number;
  /** Distinct vectors: equal ones are stored once. */
  distinct: number;
  /** Distinct vectors that the graph reaches; 0 while there is none. */
  graphed: number;
  /** Candidates that a graph search keeps. */
  expansion: number;
  bytes: { codes: number; vectors: number; graph: number; rendered: number; ids: number };
}

export interface ProjectStats {
  dimensions: IndexStats[];
  scopes: number;
  scopeBytes: number;
}

export interface Native {
  /** Makes a project known; opening it again changes nothing. */
  openProject(projectId: string): void;
  /** Forgets a project and frees its memory once the searches in flight have ended. */
  dropProject(projectId: string): void;
  /**
   * Appends chunks and returns the ordinal of the first one. They are visible to searches once a
   * scope names them. All or nothing.
   */
  append(projectId: string, dimension: number, batch: AppendBatch): number;
  /**
   * Inserts up to `maxVectors` pending vectors into the graph and returns how many still pend. Small
   * indexes have no graph, and the answer is then 0. Called again and again by one indexing thread,
   * which does all the work itself.
   */
  extendGraph(projectId: string, dimension: number, maxVectors: number): number;
  /** Sets the members of a scope, all dimensions at once. RangeError for unknown ordinals. */
  setScope(projectId: string, scopeId: string, ranges: ScopeRanges[]): void;
  /** Forgets a scope; an unknown one is no error. */
  dropScope(projectId: string, scopeId: string): void;
  hasScope(projectId: string, scopeId: string): boolean;
  /** Parses a JSON search body, searches the scope, and renders the whole response body. */
  searchJson(
    projectId: string,
    scopeId: string,
    body: Uint8Array | ArrayBuffer,
    selfPath: string,
  ): SearchOutcome;
  /**
   * The same for a vector that is parsed already: a Float32Array, or its little-endian bytes.
   * @param limit 1..100
   * @param threshold least score, -1..1
   */
  searchVector(
    projectId: string,
    scopeId: string,
    vector: Float32Array | Uint8Array | ArrayBuffer,
    dimension: number,
    limit: number,
    threshold: number,
    selfPath: string,
  ): Exclude<SearchOutcome, typeof UNUSUAL>;
  /** Parses a search body as `searchJson` does; null where that answers UNUSUAL. */
  parseSearchBody(body: Uint8Array | ArrayBuffer): SearchBody | null;
  /** Brute force over every member in full precision. Throws when the scope is not resident. */
  exactSearch(
    projectId: string,
    scopeId: string,
    vector: Float32Array | Uint8Array | ArrayBuffer,
    dimension: number,
    limit: number,
    threshold: number,
  ): RawAnswer;
  /** What `searchVector` finds, not rendered, with the plan that it took. */
  searchRaw(
    projectId: string,
    scopeId: string,
    vector: Float32Array | Uint8Array | ArrayBuffer,
    dimension: number,
    limit: number,
    threshold: number,
  ): RawAnswer;
  /**
   * Writes the project to a directory of its own: aside, checksummed, durable, then renamed. `meta`
   * comes back from `restore`. It holds the project as it is in one instant soon after the call;
   * searches and changes go on meanwhile.
   */
  snapshot(projectId: string, directory: string, meta: Uint8Array): void;
  /** The same on a thread of its own; returns a job for `finishJob`. */
  beginSnapshot(projectId: string, directory: string, meta: Uint8Array): number;
  /**
   * Reads what `snapshot` wrote, replaces the project with it and returns its `meta`; null when the
   * directory holds no snapshot. Throws an Error that says what is corrupt, and then changes nothing.
   */
  restore(projectId: string, directory: string): Uint8Array<ArrayBuffer> | null;
  /** The same, reading on a thread of its own; returns a job for `finishJob`. */
  beginRestore(projectId: string, directory: string): number;
  /** Undefined while the job runs; then once what the call without `begin` returns or throws. */
  finishJob(job: number): Uint8Array<ArrayBuffer> | null | undefined;
  /** Counts and bytes of a project; null when it is not open. */
  stats(projectId: string): ProjectStats | null;
  /** The open projects. */
  projects(): string[];
  /** Locks a file against all other owners without waiting; null when somebody has it. */
  tryLockFile(path: string): number | null;
  unlockFile(handle: number): void;
  /** Lets the calling thread run behind the others (Linux); does nothing elsewhere. */
  lowerThreadPriority(): void;
  /** The sets of kernels that this processor can run, "portable" first and the fastest last. */
  kernelSets(): string[];
  /**
   * Lets the whole process use another of these sets; RangeError for one that it can't run. The
   * answers stay the same to the last bit: tests make sure of it.
   */
  useKernels(set: string): void;
  /** Runs one kernel of a set on raw operands (native/src/kernels.hpp says which), for tests. */
  runKernel(set: string, operation: "dot" | "hamming" | "dotFine", ...operands: Operands): number;
  runKernel(set: string, operation: "sumSelected", ...operands: Operands): Int32Array<ArrayBuffer>;
  runKernel(set: string, operation: "hadamard", ...operands: Operands): Float32Array<ArrayBuffer>;
}

type Operands = [left: Uint8Array, right: Uint8Array];

/**
 * What runs under AddressSanitizer sets this global before the first import, for it must load the
 * artefact that is instrumented; see scripts/asan.ts.
 */
const asan = Reflect.get(globalThis, Symbol.for("tessera.native.asan")) === true;

function ensureBuilt(): string {
  const path = artefactPath({ asan });
  if (isFresh({ asan })) return path;
  const script = join(import.meta.dir, "build.ts");
  const result = Bun.spawnSync([process.execPath, script, ...(asan ? ["--asan"] : [])]);
  if (result.success && existsSync(path)) return path;
  throw new Error(`the native search core does not build: ${result.stderr.toString().trim()}`);
}

function load(): Native {
  const path = ensureBuilt();
  try {
    return createRequire(import.meta.url)(path) as Native;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the native search core does not load (${reason}); rebuild it with: bun native/build.ts`,
    );
  }
}

const native = load();

export const {
  openProject,
  dropProject,
  append,
  extendGraph,
  setScope,
  dropScope,
  hasScope,
  searchJson,
  searchVector,
  parseSearchBody,
  exactSearch,
  searchRaw,
  snapshot,
  restore,
  stats,
  projects,
  tryLockFile,
  unlockFile,
  lowerThreadPriority,
  kernelSets,
  useKernels,
  runKernel,
} = native;

/** How often a job is asked whether it has ended. */
const JOB_POLL_MS = 5;

async function untilFinished(job: number): Promise<Uint8Array<ArrayBuffer> | null> {
  for (;;) {
    const result = native.finishJob(job);
    if (result !== undefined) return result;
    await Bun.sleep(JOB_POLL_MS);
  }
}

/** `snapshot` on a thread of its own, which goes on even when the calling one is terminated. */
export async function snapshotLater(
  projectId: string,
  directory: string,
  meta: Uint8Array,
): Promise<void> {
  await untilFinished(native.beginSnapshot(projectId, directory, meta));
}

/** `restore`, reading on a thread of its own. */
export async function restoreLater(
  projectId: string,
  directory: string,
): Promise<Uint8Array<ArrayBuffer> | null> {
  return await untilFinished(native.beginRestore(projectId, directory));
}

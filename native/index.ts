/**
 * The native search core: the vectors, graphs, scopes and rendered chunks of the loaded projects, and
 * searches over them. `text.ts` has lookups by text.
 *
 * A *project* holds up to six *indexes*: one per dimension (768, 1024, 1536, 3072, 4096), and one of dimension 0 for
 * chunks without a vector. An index consists of *shards* of bounded size and numbers its chunks: their *ordinals*. A
 * *scope* (an environment or a release) is a set of ordinals per dimension. The projects belong to the process: every
 * worker thread can search a project that any thread has loaded.
 *
 * Every function throws a TypeError on arguments of a wrong shape before it touches any memory.
 * Searches may run in any number of threads while one thread appends, maintains the indexes, sets
 * scopes or writes snapshots.
 */
import { addon, jobs, type MaintenanceStep, type Part, type RecallSample } from "./addon.ts";
import type { OwnedBytes } from "./owned-bytes.ts";

export type { Part, RecallSample } from "./addon.ts";

/** Chunks to append; all arrays describe the same `n` chunks in the same order. */
export interface AppendBatch {
  /** 16 bytes per chunk: its uuid in byte order. */
  ids: Uint8Array;
  /** `n * dimension` finite numbers; no vector may be all zero. Any norm. */
  vectors: Float32Array;
  /** The JSON texts of the chunks, concatenated, in UTF-8; none may be empty. */
  rendered: Uint8Array;
  /** Where the text of each chunk ends in `rendered`. */
  renderedEnds: Uint32Array;
}

/**
 * The bits of an ordinal that number the chunk within its shard; the rest number the shard. No range of
 * ordinals leads from one shard into the next.
 */
export const ORDINAL_ROW_BITS = 22;

/** A shard that was replaced by one without its deleted chunks. */
export interface Compacted {
  dimension: number;
  shard: number;
  /**
   * The old rows that remain, as (start, count) pairs, ascending. Their order is the new numbering:
   * row `i` of the new shard is the i-th of them.
   */
  remaining: Uint32Array;
}

/** Members of a scope: `ranges` holds (start, count) pairs of ordinals of one dimension. */
interface ScopeRanges {
  dimension: number;
  ranges: Uint32Array;
}

/** The project or the scope is not loaded. */
export const NOT_LOADED = 1;

/** How a search was carried out, by the number in its report. */
export const PLANS = ["empty", "exact", "scan", "graph"] as const;
export type Plan = (typeof PLANS)[number];

/**
 * The measurements of a search, by their places in a report: milliseconds of parsing, searching and rendering, the
 * number of its plan in `PLANS`, the number of ignored members of the body that `ignoredFields` names, the
 * milliseconds of the search for rescoring candidates, the number of distinct vectors of the scope and of those that
 * were compared by their codes and in full precision, and 1 if `total_matches` counts all matches, else 0. The caller
 * passes the array, so that a search does not allocate it. Only an answered search fills it.
 */
export const SEARCH_REPORT = {
  parseMs: 0,
  searchMs: 1,
  renderMs: 2,
  plan: 3,
  ignored: 4,
  rescoreMs: 5,
  scopeVectors: 6,
  estimates: 7,
  comparisons: 8,
  countsAll: 9,
} as const;
export type SearchReport = Float64Array<ArrayBuffer>;
export const SEARCH_REPORT_LENGTH = Object.keys(SEARCH_REPORT).length;

/** A scope and its query, as a JSON body or a vector. */
export interface SearchQuery {
  readonly project: string;
  readonly scope: string;
  /** A JSON body; or with `dimension`, a Float32Array or its little-endian bytes. */
  readonly body: Float32Array | Uint8Array | ArrayBuffer;
  readonly dimension?: number | undefined;
  /** 1..100 */
  readonly limit?: number | undefined;
  /** The minimum score, -1..1. */
  readonly threshold?: number | undefined;
}

type VectorRule =
  | ("required" | "form" | "text-length" | "zeros")
  | ("length" | "dimension")
  | ("number" | "float32");

/**
 * A fault of the vector of a JSON body: `required` for none, `form` for a value that is neither an array nor base64 of
 * float32, `text-length` for base64 that is too long for any vector, `zeros`. With the number of elements, which is that of
 * no vector (`length`) or not that of `dimension`. Or with the index of an element that is not a number, or not finite
 * as a `float32`.
 */
export interface VectorFault {
  readonly rule: VectorRule;
  readonly number: number;
}

/** Why a JSON body is not a search: it is empty, not JSON or not an object, or the vector or an option is faulty. */
export type SearchFaults =
  | { readonly body: "required" | "json" | "object" }
  | {
      /** The first faults of the vector. */
      readonly vector: readonly VectorFault[];
      /** The options of the body. Values other than numbers and null are false. */
      readonly options: {
        readonly dimension?: number | null | false;
        readonly limit?: number | null | false;
        readonly threshold?: number | null | false;
      };
    };

/** The search of a JSON body, with defaults filled in. */
export interface SearchBody {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly dimension: number;
  readonly limit: number;
  readonly threshold: number;
  /** Names of the first unknown members. */
  readonly ignored: readonly string[];
}

/** A complete JSON response body, the faults of the JSON body, or the constant above. */
export type SearchOutcome = OwnedBytes | SearchFaults | typeof NOT_LOADED;

interface IndexStats {
  dimension: number;
  /** Chunks, which have no vectors in the index of dimension 0. */
  vectors: number;
  /** Distinct vectors: equal ones are stored once. */
  distinct: number;
  /** Distinct vectors in a graph; small shards have none. */
  graphed: number;
  shards: number;
  /** How much farther than the 10th best a graph search continues, as a share; see native/src/graph/graph.hpp. */
  window: number;
  bytes: { codes: number; vectors: number; graph: number; rendered: number; ids: number };
}

interface ProjectStats {
  dimensions: IndexStats[];
  scopes: number;
  scopeBytes: number;
}

/** The functions of the addon that the service calls. */
interface Native {
  /** Opens an empty project unless it is open. */
  openProject(projectId: string): void;
  /** Closes a project and frees its memory, and the fields that are shared, once the searches in progress have ended. */
  dropProject(projectId: string): void;
  /** The names of the open projects, and of those whose fields are shared. */
  projects(): string[];
  /**
   * Appends chunks and returns their ordinals. Searches see them once a scope names them. When it
   * throws, none can be named.
   */
  append(projectId: string, dimension: number, batch: AppendBatch): Uint32Array<ArrayBuffer>;
  /**
   * Replaces a shard by the compaction that `maintain` has prepared. Returns null and changes nothing if a scope has
   * meanwhile received chunks that the compaction drops.
   */
  commitCompaction(projectId: string): Compacted | null;
  /** Asks for the calibration of an index to be repeated; `maintain` carries it out. */
  recalibrate(projectId: string, dimension: number): void;
  /**
   * Sets the maximum number of distinct vectors of a shard; returns the previous number. Larger shards remain, and get
   * no further vectors.
   */
  setShardNodes(nodes: number): number;
  /** Replaces the members of a scope in all dimensions. Throws a RangeError for unknown ordinals. */
  setScope(projectId: string, scopeId: string, ranges: ScopeRanges[]): void;
  /** Removes a scope if it exists. */
  dropScope(projectId: string, scopeId: string): void;
  hasScope(projectId: string, scopeId: string): boolean;
  /** Counts and bytes of a project; null when it is not open. */
  stats(projectId: string): ProjectStats | null;
  /**
   * Parses a JSON body, which must be UTF-8, unless a vector is given, searches the scope, and renders the whole response
   * body. `exact` compares every member in full precision.
   */
  search(
    query: SearchQuery & { readonly selfPath: string; readonly exact?: boolean },
    report?: SearchReport,
  ): SearchOutcome;
  /** Parses a JSON body as `search` does. */
  parseSearchBody(body: Uint8Array): SearchBody | SearchFaults;
  /** The position of the filter of a JSON body that `parseSearchBody` accepts; null without one. */
  filterSpan(body: Uint8Array): { readonly start: number; readonly end: number } | null;
  /**
   * The names of the first members that the last `search` of this thread ignored; only after an answer whose report
   * counts some.
   */
  ignoredFields(): string[];
  /** XXH64 in hexadecimal digits. */
  checksum(bytes: Uint8Array): string;
  /** Takes an exclusive lock on a file without waiting; null when another owner has it. */
  tryLockFile(path: string): number | null;
  unlockFile(handle: number): void;
}

const native = addon as Native;

export const {
  openProject,
  dropProject,
  projects,
  append,
  commitCompaction,
  recalibrate,
  setShardNodes,
  setScope,
  dropScope,
  hasScope,
  stats,
  search,
  parseSearchBody,
  filterSpan,
  ignoredFields,
  checksum,
  tryLockFile,
  unlockFile,
} = native;

/**
 * Writes a project durably, as it is at one instant soon after the call. Parts that an earlier snapshot has written to
 * the directory are not written again. Searches and changes continue meanwhile, and the write completes even if the
 * calling thread is terminated.
 */
export async function snapshot(projectId: string, directory: string): Promise<readonly Part[]> {
  return await jobs.beginSnapshot(projectId, directory);
}

/**
 * Replaces a project by its snapshot, whose parts are in the order of `snapshot`. Rejects with the reason when one of
 * them is missing or damaged, and then changes nothing.
 */
export async function restore(
  projectId: string,
  directory: string,
  parts: readonly Part[],
): Promise<void> {
  await jobs.beginRestore(projectId, directory, parts);
}

/**
 * Does one step of background work on an index: builds the next generation of a graph, copies a shard
 * without its deleted chunks, or measures the effort that searches need. It runs for up to minutes in `threads`
 * threads of low priority, while all other work continues. One step per project at a time.
 * @param kept (start, count) pairs of the ordinals of chunks that must stay although no scope names them yet; null to
 *   free no memory
 */
export async function maintain(
  projectId: string,
  dimension: number,
  kept: Uint32Array | null,
  threads: number,
): Promise<MaintenanceStep> {
  return await jobs.beginMaintenance(projectId, dimension, kept, threads);
}

/**
 * Searches as planned and exactly, on a thread of the lowest priority, and compares the hits. Null
 * when the scope is not loaded or the body is not a search.
 */
export async function measureRecall(query: SearchQuery): Promise<RecallSample | null> {
  return await jobs.beginRecall(query);
}

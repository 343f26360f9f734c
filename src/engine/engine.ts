import type { Scope } from "../domain/scope.ts";
import type { FieldSummary } from "../index/fields/field-summary.ts";
import type { EngineFigures } from "../ops/observability/metrics.ts";
import type { LookupRequest, Reply, RetrieveRequest, SearchRequest } from "./requests/request.ts";

interface EngineState extends EngineFigures {
  /** The reason why searches may not see all changes yet, in one sentence; null when they do. */
  readonly behind: string | null;
}

/** The indexes that an answer is read from: texts and the fields of filters, or vectors as well. */
type IndexRead = "texts" | "vectors";

/** A change of the log that reads of a project wait for. */
export interface AwaitedChange {
  readonly projectId: string;
  readonly seq: number;
  readonly read: IndexRead;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Holds vectors and texts, follows the changes of the database, and searches. The operations depend on
 * this interface and the types of requests only, so that an engine could span several machines.
 */
export interface Engine {
  /**
   * Searches by vector. The reply is `answered`, or `invalid` when a JSON body is not a search. Throws problems, or rejects
   * with them.
   */
  search(request: SearchRequest): Reply<"search"> | Promise<Reply<"search">>;
  /** Looks up by text. The reply is `answered`. Throws problems, or rejects with them. */
  lookup(request: LookupRequest): Reply<"lookup"> | Promise<Reply<"lookup">>;
  /**
   * Finds the best chunks by vector and text. The reply is `answered`. Throws problems, or rejects with them.
   * `RetrieveRequest` describes request and reply.
   */
  retrieve(request: RetrieveRequest): Promise<Reply<"retrieve">>;
  /**
   * For each file version 1 if the filter of the derived scope matches one of its chunks, else 0. Rejects
   * with problems.
   */
  matching(scope: Scope, versionIds: readonly string[]): Promise<Uint8Array>;
  /**
   * Summarises the fields that filters compare, for the files of a scope: the path, then the most common fields.
   * Rejects with problems.
   */
  fields(scope: Scope): Promise<readonly FieldSummary[]>;
  /** Notes that the log has this change: answers without it know that they lack it. */
  noteChange(seq: number): void;
  /** Resolves with true once the reads see the change, or with false when the wait ends first. */
  waitFor(change: AwaitedChange): Promise<boolean>;
  /** Milliseconds for which the oldest change that such a read may lack is known; 0 if it lacks none. */
  behindMs(projectId: string, read: IndexRead): number | Promise<number>;
  state(): EngineState;
  close(): Promise<void>;
}

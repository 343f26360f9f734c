import type { IndexPreload, LogLevel } from "../../ops/config/schema.ts";
import type { EngineFigures } from "../../ops/observability/metrics.ts";
import type { ThreadProtocol } from "../../ops/threads/protocol.ts";
import type { Progress } from "../changes/applied-changes.ts";
import type { MemberLists } from "../fields/member-lists.ts";
import type { Derived, WantedScope } from "../projects/derived-scopes.ts";
import type { WantedMatches } from "../projects/match-versions.ts";
import type { WantedFields } from "../projects/scope-fields.ts";

/** Options of the indexing thread. */
export interface IndexerOptions {
  readonly databaseUrl: string;
  /** The instance directory, which holds this process's snapshots. */
  readonly snapshotRoot: string;
  readonly logLevel: LogLevel;
  /** Memory budget of the indexes, in bytes. Beyond it, idle projects are evicted. */
  readonly memoryBudget: number;
  readonly preload: IndexPreload;
  /** False when another engine holds the vectors; then only texts are indexed. */
  readonly vectors: boolean;
  /** Where a test makes the thread crash. */
  readonly failpoints: readonly string[];
  /** Distinguishes several services in one process; 0 for the first. */
  readonly instance: number;
}

/** The state of the indexing thread, sent every INDEX_REPORT_INTERVAL_MS. */
export interface IndexerReport extends Omit<EngineFigures, "queued" | "pendingLoads" | "recall"> {
  /** Why the indexes have not caught up; null once they have. */
  readonly behind: string | null;
}

/** The recall of recent live searches in one index. */
export interface IndexRecall {
  readonly projectId: string;
  readonly dimension: number;
  /** 0 to 1. */
  readonly recall: number;
  readonly samples: number;
}

/** Asks for a scope to be loaded and indexed. */
interface EnsureTask extends WantedScope {
  readonly type: "ensure";
}

/** Asks which file versions a filter matches. */
interface MatchTask extends WantedMatches {
  readonly type: "match";
}

/** Requests the members of a derived scope. */
interface MembersTask {
  readonly type: "members";
  readonly projectId: string;
  readonly scopeId: string;
  /** The versions that are listed; all by default. */
  readonly among?: readonly string[] | undefined;
}

/** Requests the summaries of the fields of a scope's files. */
interface FieldsTask extends WantedFields {
  readonly type: "fields";
}

export type IndexerCommand =
  | {
      /** Has the projects that were searched since the last such command, and the derived scopes. */
      readonly type: "used";
      readonly searched: ReadonlyMap<string, ReadonlySet<string>>;
    }
  | ({
      /** For `index status`. */
      readonly type: "recall";
    } & IndexRecall)
  | { readonly type: "recalibrate"; readonly projectId: string; readonly dimension: number }
  | {
      /** Another process waits for a report. */
      readonly type: "report-requested";
      /** The time of the request in seconds since 1970, by the clock of the database. */
      readonly at: number;
    };

export type IndexerEvent =
  | {
      /** Searches may use the project, under this name in the native registry. */
      readonly type: "loaded";
      readonly projectId: string;
      readonly nativeName: string;
    }
  | { readonly type: "evicted"; readonly projectId: string }
  | Progress
  | { readonly type: "report"; readonly report: IndexerReport }
  | {
      /** A message of an index to its subscriber. */
      readonly type: "published";
      readonly index: string;
      readonly message: unknown;
    };

export interface IndexerProtocol extends ThreadProtocol {
  readonly options: IndexerOptions;
  readonly task: EnsureTask | MatchTask | MembersTask | FieldsTask;
  /**
   * False for an unknown project or scope, and "late" if its filter takes too long. Of a match: 1 or 0 for each
   * version, or null if the versions cannot be read. Of members and fields: null if the scope has left memory.
   */
  readonly result: Derived | Uint8Array | MemberLists | string | null;
  readonly command: IndexerCommand;
  readonly event: IndexerEvent;
}

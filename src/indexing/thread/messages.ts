import type { LogLevel } from "../../config/schema.ts";
import type { Scope } from "../changes/change-log.ts";

/** What the indexing thread is started with. */
export interface IndexerOptions {
  readonly databaseUrl: string;
  /** The folder of this process's snapshots. */
  readonly snapshotRoot: string;
  readonly logLevel: LogLevel;
  /** Tells the services of one process apart; 0 unless there are several. */
  readonly instance: number;
  /** Points at which tests make the process die; empty in production. */
  readonly failpoints: readonly string[];
}

/** What the indexing thread knows about itself, sent every INDEX_REPORT_INTERVAL_MS. */
export interface IndexerReport {
  /** Why the indexes have not caught up; null once they have. */
  readonly behind: string | null;
  /** Entries of the change log that are not taken in yet. */
  readonly lag: number;
  readonly projects: number;
  readonly vectors: number;
  readonly bytes: number;
}

/**
 * How a project is called in the native registry. The registry belongs to the process, and two
 * services in one process, as in tests, index the same project each for itself.
 */
export function nativeNameOf(instance: number, projectId: string): string {
  return instance === 0 ? projectId : `${projectId}#${instance}`;
}

export type ToIndexer =
  | {
      /** Asks for a scope to be loaded and read. */
      readonly type: "ensure";
      readonly ticket: number;
      readonly projectId: string;
      readonly scope: Scope;
    }
  | {
      /** Tells which projects were searched lately. */
      readonly type: "used";
      readonly projectIds: readonly string[];
    }
  | { readonly type: "stop" };

export type FromIndexer =
  | {
      /** `found` is false when there is no such project or scope. */
      readonly type: "ensured";
      readonly ticket: number;
      readonly found: boolean;
    }
  | { readonly type: "resident"; readonly projectId: string }
  | { readonly type: "evicted"; readonly projectId: string }
  | { readonly type: "report"; readonly report: IndexerReport }
  | {
      /** A message of an index to whoever subscribed to it. */
      readonly type: "published";
      readonly index: string;
      readonly message: unknown;
    }
  | { readonly type: "stopped" };

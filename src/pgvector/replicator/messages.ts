import type { LogLevel } from "../../config/schema.ts";
import type { ThreadProtocol } from "../../threads/protocol.ts";

/** What the thread that writes vectors is started with. */
export interface ReplicatorOptions {
  /** The platform's database, whose change log is followed. */
  readonly databaseUrl: string;
  readonly vectorDatabaseUrl: string;
  /** Placements of new projects, where Citus distributes tables. */
  readonly placements: number;
  readonly logLevel: LogLevel;
}

/** The state of the engine's database, sent every INDEX_REPORT_INTERVAL_MS. */
export interface ReplicatorReport {
  /** Why searches may not see all changes yet; null when they do. */
  readonly behind: string | null;
  /** Changes that are not searchable yet. */
  readonly lag: number;
  readonly projects: number;
  readonly vectors: number;
  /** Vectors that are not in a graph yet and will be. */
  readonly backlog: number;
  readonly complete: boolean;
}

export interface ReplicatorProtocol extends ThreadProtocol {
  readonly options: ReplicatorOptions;
  readonly event: ReplicatorReport;
}

import type { IndexerReport } from "../../../index/thread/messages.ts";
import type { LogLevel } from "../../../ops/config/schema.ts";
import type { ThreadProtocol } from "../../../ops/threads/protocol.ts";

/** The options of the thread that writes vectors. */
export interface ReplicatorOptions {
  /** The platform's database, whose change log is followed. */
  readonly databaseUrl: string;
  readonly vectorDatabaseUrl: string;
  readonly logLevel: LogLevel;
}

/** The state of the engine's database, sent every INDEX_REPORT_INTERVAL_MS. */
export type ReplicatorReport = Omit<IndexerReport, "bytes" | "copies">;

export interface ReplicatorProtocol extends ThreadProtocol {
  readonly options: ReplicatorOptions;
  readonly event: ReplicatorReport;
}

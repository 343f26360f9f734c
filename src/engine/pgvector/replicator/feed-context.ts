import type { LimitFunction } from "p-limit";
import type { Sql } from "../../../db/client.ts";
import type { Log } from "../../../observability/log.ts";
import type { ChangeLog } from "../../indexing/changes/change-log.ts";
import type { VersionReader } from "../../indexing/versions/version-index.ts";
import type { ProjectStore } from "./store.ts";

/** What all projects of the leader share. */
export interface FeedContext {
  readonly log: Log;
  /** The engine's database. */
  readonly sql: Sql;
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  /** Limits how many projects are written at a time. */
  readonly projects: LimitFunction;
  /** Creates the tables of a project unless they are there. */
  openProject(projectId: string): Promise<ProjectStore>;
  /** Called after rows of a project have changed. */
  changed(projectId: string): void;
  /** Called when another process has become the leader. */
  lost(): void;
}

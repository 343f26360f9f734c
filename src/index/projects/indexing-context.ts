import type { LimitFunction } from "p-limit";
import type { Position } from "../../domain/position.ts";
import type { Log } from "../../ops/observability/log.ts";
import type { ChangeLog } from "../changes/change-log.ts";
import type { FieldIndex } from "../fields/field-index.ts";
import type { FieldWork } from "../fields/field-work.ts";
import type { SnapshotStore } from "../snapshots/snapshot-store.ts";
import type { VersionIndex, VersionReader } from "../versions/version-index.ts";

/** Resources that all projects of the indexing thread share. */
export interface IndexingContext {
  readonly log: Log;
  /** `fields` is the first: its snapshot has the table of versions, which the others need. */
  readonly indexes: readonly VersionIndex[];
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  readonly snapshots: SnapshotStore;
  readonly databaseId: string;
  /** The last change that was handed to the projects. */
  readonly anchor: () => Position;
  /** The index among `indexes` whose fields filters compare. */
  readonly fields: FieldIndex;
  /** In which users take turns to read them. */
  readonly fieldWork: FieldWork;
  /** Limits how many projects read more than one slice at a time. */
  readonly bulk: LimitFunction;
}

import type { LimitFunction } from "p-limit";
import type { Log } from "../../observability/log.ts";
import type { TenantGate } from "../../tenants/tenant-gate.ts";
import type { Anchor, ChangeLog } from "../changes/change-log.ts";
import type { Copies } from "../copies/copies.ts";
import type { FieldIndex } from "../fields/field-index.ts";
import type { SnapshotStore } from "../snapshots/snapshot-store.ts";
import type { VersionIndex, VersionReader } from "../versions/version-index.ts";

/** What all projects of the indexing thread share. */
export interface IndexingContext {
  readonly log: Log;
  readonly indexes: readonly VersionIndex[];
  readonly changes: ChangeLog;
  readonly reader: VersionReader;
  readonly snapshots: SnapshotStore;
  /** Absent when snapshots stay on their node. */
  readonly copies?: Copies;
  readonly databaseId: string;
  /** The last change that was handed to the projects. */
  readonly anchor: () => Anchor;
  /** One of `indexes`: what filters compare. */
  readonly fields: FieldIndex;
  /** Lets evaluations of filters take turns. */
  readonly filterTurns: LimitFunction;
  /** Lets each user evaluate one filter at a time. */
  readonly filterGate: TenantGate;
  /** Limits how many projects read more than one slice at a time. */
  readonly bulk: LimitFunction;
}
